public import RelayBase
public import RelayJSON

/// How an upstream is asked what became of a request that may have been carried out, before anything else is done about
/// its failure.
///
/// A request that is found has succeeded. One that is absent was not carried out, and may be sent again whatever its
/// method, as the rules say. An answer that says neither, or both, leaves the request in doubt, as if nobody had asked.
public struct Verification: Sendable {
    /// GET or HEAD.
    package let method: Method
    package let path: LookUpTemplate
    package let fields: [(name: String, value: LookUpTemplate)]
    /// The upstream that is asked, as an index; nil asks the one that was sent the request.
    package var upstream: Int?
    /// Answers that say that the request was carried out.
    public let found: SuccessRule
    /// Answers that say that it was not.
    public let absent: SuccessRule
    /// Failures after which it is asked, of those that leave it open what became of the request; all of them unless set.
    public var on = FailureMatcher([.any])
    /// The wait before the first question, so that an upstream is not asked before it can show what it has done.
    public var settleAfter: Duration = .seconds(1)
    /// How long one question may take.
    public var timeout: Duration = .seconds(5)
    /// Questions about one attempt that are answered neither way.
    public var attempts = 3
    /// Where the request's own answer stands in the answer to the question, which is the answer itself when it is nil.
    ///
    /// An answer that has nothing there leaves the request in doubt.
    public var answer: JSONPointer?

    /// Asks with a request of its own.
    ///
    /// - Parameters:
    ///   - path: below the upstream's base, percent-encoded. `{key}`, `{job.id}`, `{route}`, `{header:NAME}` and
    ///     `{json:POINTER}` in it stand for values of the request that is asked about, which are encoded.
    ///   - method: `GET` or `HEAD`.
    ///   - headers: fields of the question, in which the same may stand.
    ///   - found: answers that say that the request was carried out.
    ///   - absent: answers that say that it was not.
    /// - Throws: what is wrong with the path or a field.
    public init(
        path: String,
        method: Method = .get,
        headers: [String: String] = [:],
        found: SuccessRule,
        absent: SuccessRule
    ) throws(Refusal) {
        guard method == .get || method == .head else {
            throw Refusal("a look-up changes nothing", hint: "write \"GET\" or \"HEAD\"")
        }
        var fields: [(name: String, value: LookUpTemplate)] = []
        for (name, text) in headers.sorted(by: { $0.key < $1.key }) {
            _ = try FieldName(setting: name)
            fields.append((name, try LookUpTemplate(field: text)))
        }
        self.init(
            method: method,
            path: try LookUpTemplate(path: path),
            fields: fields,
            found: found,
            absent: absent
        )
    }

    package init(
        method: Method,
        path: LookUpTemplate,
        fields: [(name: String, value: LookUpTemplate)],
        found: SuccessRule,
        absent: SuccessRule
    ) {
        (self.method, self.path, self.fields, self.found, self.absent) = (method, path, fields, found, absent)
    }

    /// Why answers could not be told apart; nil where they can.
    package var fault: Refusal? {
        // Such an answer tells of a place or of the upstream, and not of the request.
        let vague = (300..<600).first { code in
            let status = Status(rawValue: UInt16(code))
            let isVague = code < 400 || code >= 500
            return isVague && (found.statuses.contains(status) || absent.statuses.contains(status))
        }
        if let vague {
            return Refusal(
                "a \(vague) says nothing of the request: it would be sent again, or taken for a success, though nobody knows",
                hint: "name statuses of 200 to 299 and 400 to 499"
            )
        }
        let looksInside = found.inspectsBody || absent.inspectsBody
        if method == .head, looksInside || answer != nil {
            return Refusal("an answer to HEAD has no content to look into", hint: "write \"GET\"")
        }
        let isPlain = !looksInside && found.contentTypes.isEmpty && absent.contentTypes.isEmpty
        let shared = (200..<600).first { code in
            let status = Status(rawValue: UInt16(code))
            return found.statuses.contains(status) && absent.statuses.contains(status)
        }
        guard isPlain, let shared else { return nil }
        return Refusal(
            "a \(shared) would say both that the request was carried out and that it was not",
            hint: "name other statuses, or look into the content with \"require\""
        )
    }

    /// The waits between two questions.
    package static let backoff = Backoff(
        schedule: .exponential(base: .seconds(1), multiplier: 2, maximum: .seconds(900)),
        jitter: .equal
    )

    /// Questions that may end without having been sent.
    package static let unsentLimit = 100
}

/// A route's questions, with what judges the answers.
package final class LookUpRules: Sendable {
    package let settings: Verification
    /// The same route, whose requests are questions, and whose success is that the request was carried out.
    package let found: Route
    /// The same, whose success is that it was not.
    package let absent: Route
    /// The one of the two by which questions are made: an answer that is looked into has to be readable.
    package let asking: Route
    /// Where the request's content is looked into.
    package let pointers: [JSONPointer]
    /// How long a question may take.
    package let limit: TimeLimit

    init(_ settings: Verification, of name: String, _ policy: RoutePolicy) {
        self.settings = settings
        var asking = policy.asking(settings.found)
        asking.response.unwrap = settings.answer
        found = Route(name: name, policy: asking)
        absent = Route(name: name, policy: policy.asking(settings.absent))
        self.asking = found.inspectsBody ? found : absent
        pointers = settings.path.pointers + settings.fields.flatMap(\.value.pointers)
        limit = TimeLimit("verify.timeout", settings.timeout)
    }
}

extension RoutePolicy {
    /// The policy of its questions and looks: whatever goes with every request goes with them, and nothing is done about answers.
    package func asking(_ success: SuccessRule) -> RoutePolicy {
        var policy = self
        policy.verification = nil
        policy.following = nil
        policy.success = success
        policy.apiError = nil
        policy.quickRecovery = []
        policy.errorTypes = []
        policy.recovery = []
        policy.deliversLater = false
        policy.response = ResponseRules()
        policy.request.wrap = nil
        policy.idempotency.generates = false
        return policy
    }
}
