import RelayBase
import RelayJSON
import RelayJobs
import RelayRoute

/// The relay's own questions to an upstream: about a request in doubt, and about an operation that it has begun.
struct Questions: Sendable {
    /// Nil where the request is not asked about.
    var inquiry: Inquiry?
    /// Nil where no operation is followed.
    var follow: Follow?
    /// The request's own, while a question takes its place.
    var own: (preparation: Preparation, judge: ResponseJudge)?
}

extension ExecutionMachine {
    var inquiry: Inquiry? {
        get { questions?.inquiry }
        set {
            var all = questions ?? Questions()
            all.inquiry = newValue
            questions = all
        }
    }

    /// Whether it is a run that ends with a wait for the end of an operation.
    var follows: Bool { if case .end(.follows) = step { true } else { false } }
}

/// The question to the upstream about a request in doubt, made before the request is sent.
struct Inquiry: Sendable {
    let rules: LookUpRules
    let question: Question
    /// The failure that left the request in doubt, as long as it is asked about.
    var doubt: Doubt?

    enum Question: Sendable {
        case ready(Preparation)
        /// The request has nothing that the upstream could be asked by, in words.
        case unaskable(String)
    }

    var settings: Verification { rules.settings }

    /// Makes the question about `request`, of which `prepared` is what goes out.
    init(
        _ rules: LookUpRules,
        _ request: HTTPRequest,
        _ prepared: Preparation,
        _ context: JobContext,
        added: HeaderFields,
        wallSeconds: Int64
    ) {
        self.rules = rules
        do throws(Failure) {
            let values = Values(rules, request, prepared, context)
            var fields = HeaderFields()
            for (name, template) in rules.settings.fields {
                guard fields.append(name, try values.text(template, isPath: false)) else {
                    throw Values.unusable(name)
                }
            }
            // The credential of a caller goes where its request goes.
            if let own = context.route.callersCredential(request.fields) {
                fields.append("Authorization", own)
            }
            let target = try values.text(rules.settings.path, isPath: true)
            question = .ready(
                try Preparation(
                    HTTPRequest(method: rules.settings.method, target: target, fields: fields),
                    route: rules.asking,
                    job: context.id,
                    added: added,
                    wallSeconds: wallSeconds
                )
            )
        } catch {
            question = .unaskable(error.detail)
        }
    }

    /// The wait before the next question, where there is to be one.
    func wait(random: UInt64, _ asked: Duration?) -> Duration {
        guard let tries = doubt?.tries, tries > 0 else { return settings.settleAfter }
        let wait = Verification.backoff.wait(beforeRetry: tries, random: random)
        return max(wait, settings.settleAfter, min(asked ?? .zero, .seconds(900)))
    }

    /// Whether the upstream has been asked as often as it may be.
    var isSpent: Bool {
        guard let doubt else { return false }
        return doubt.answered >= settings.attempts || doubt.tries >= Verification.unsentLimit
    }
}

extension LookUpRules {
    /// Which upstream is asked about the doubt; nil where nobody knows any more to which one the request went.
    ///
    /// Of an earlier life of which that is not known an operator wants the job sent, and the first one is asked.
    func index(about doubt: Doubt, among upstreams: [Upstream]) -> Int? {
        if let upstream = settings.upstream { return upstream }
        if upstreams.count == 1 { return 0 }
        return upstreams.firstIndex { $0.name == doubt.upstream } ?? (doubt.isEarlier ? 0 : nil)
    }
}

/// The values of a request that may stand in a question about it.
private struct Values {
    private let key: String?
    private let context: JobContext
    private let request: HTTPRequest
    private let prepared: Preparation
    private var values: [String: String] = [:]

    /// Bytes of one value.
    private static let limit = 256

    init(_ rules: LookUpRules, _ request: HTTPRequest, _ prepared: Preparation, _ context: JobContext) {
        (self.request, self.prepared, self.context) = (request, prepared, context)
        // One that the upstream is never told of would be absent there for ever.
        let isSigned = context.route.policy.signing != nil
        key = prepared.keys.first.map(unquoted) ?? (isSigned ? context.id.description : nil)
        if !rules.pointers.isEmpty { read(rules.pointers) }
    }

    /// Reads the values that stand in the body; a stream, or what is no JSON, has none.
    private mutating func read(_ pointers: [JSONPointer]) {
        guard case .bytes(let content) = request.body,
            let found = try? JSONScan.locate(pointers, in: content.span)
        else { return }
        for (pointer, range) in zip(pointers, found) {
            guard let range, let value = try? JSONValue(parsing: Array(content[range])) else { continue }
            switch value {
            case .string(let text): values[pointer.text] = text
            case .number(let number): values[pointer.text] = number.text
            default: continue
            }
        }
    }

    func text(_ template: LookUpTemplate, isPath: Bool) throws(Failure) -> String {
        var text = ""
        for part in template.parts {
            if case .text(let plain) = part {
                text += plain
                continue
            }
            let value = try value(of: part)
            guard value.utf8.count <= Self.limit else {
                throw .preparation("a value of verify.request has more than \(Self.limit) bytes")
            }
            text += isPath ? percentEncoded(value) : value
        }
        guard isPath else { return text }
        for segment in text.prefix(while: { $0 != "?" }).split(separator: "/")
        where segment == "." || segment == ".." {
            throw .preparation("a value of verify.request would lead to another path")
        }
        return text
    }

    private func value(of part: LookUpTemplate.Part) throws(Failure) -> String {
        let (value, name): (String?, String)
        switch part {
        case .text(let text): return text
        case .key: (value, name) = (key, "key")
        case .jobID: return context.id.description
        case .route: return context.route.name
        case .header(let field):
            (value, name) = (
                prepared.value(of: field) ?? request.fields[field], "header:\(field.lowercasedText)"
            )
        case .json(let pointer): (value, name) = (values[pointer.text], "json:\(pointer.text)")
        }
        guard let value, !value.isEmpty else {
            throw .preparation(
                "the request has nothing for {\(name)} of verify.request"
            )
        }
        return value
    }

    static func unusable(_ field: String) -> Failure {
        .preparation("a value of verify.request cannot stand in the field \(field)")
    }
}

/// A key without the quotes of its syntax (RFC 9651 §3.3.3); one that escapes something stays as it is written.
private func unquoted(_ key: String) -> String {
    let bytes = key.utf8
    guard bytes.count > 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
        !bytes.contains(UInt8(ascii: "\\"))
    else { return key }
    return String(key.dropFirst().dropLast())
}
