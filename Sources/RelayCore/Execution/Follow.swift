import RelayBase
import RelayJSON
import RelayJobs
import RelayRoute

/// An operation of the upstream that is followed, with what each look at it is made of.
struct Follow: Sendable {
    let rules: FollowRules
    var operation: BegunOperation
    /// A GET with what goes with every request of the route; its target is the operation's.
    let preparation: Preparation
    /// The upstream's, as an index.
    let upstreamIndex: Int
    /// Where the result is, once the operation is done.
    var result: String?

    /// The failure of a job whose operation goes on, for whoever gives it up.
    static let running = Failure(
        .operationLost,
        sent: .answered,
        "the upstream has begun an operation, which was not over"
    )

    /// The beginning of the words for an operation whose result is not to be had.
    static let unfetched =
        "the operation that the upstream had begun is done, and its result could not be fetched: "
}

extension BegunOperation {
    /// The upstream to ask about it, which is where the answer came from; nil where the route has it no more.
    func index(among upstreams: [Upstream]) -> Int? {
        guard let origin else { return upstreams.firstIndex { $0.name == upstream } }
        return upstreams.firstIndex { $0.name == upstream && $0.origin.text == origin }
            ?? upstreams.firstIndex { $0.origin.text == origin }
    }
}

// The word of an answer on an operation.
extension Follow {
    enum Finding {
        case running
        case done
        /// The word it has for that, where it has one.
        case failed(String?)
        case gone
        /// Nothing: another look may be luckier.
        case silent(Failure)
    }

    func finding(_ inbound: InboundResponse, wallSeconds: Int64) -> Finding {
        let response = inbound.response
        let isThere = response.status.class == .success
        if result == nil {
            if let failed = rules.failed, failed.takes(inbound, wallSeconds) { return .failed(nil) }
            if let done = rules.done, done.takes(inbound, wallSeconds) { return .done }
        }
        if response.status == 404 || response.status == 410 { return .gone }
        if result == nil, rules.done == nil, response.status == 303 { return .done }
        guard isThere else {
            var failure = Failure(
                .httpStatus,
                sent: .answered,
                "the upstream answered \(response.status.rawValue) when it was asked about the operation",
                status: response.status
            )
            failure.exchange = inbound.exchange
            failure.retryAfter = RetryAfter.parse(response.fields, wallSeconds: wallSeconds)
            return .silent(failure)
        }
        if result != nil { return .done }
        if rules.done != nil, rules.failed != nil { return .running }
        if operation.isMonitor, case .bytes(let content) = response.body, !content.isEmpty,
            (try? JSONScan.validate(content.span)) == nil
        {
            let what = "what the upstream answered when it was asked about the operation is not JSON"
            var failure = Failure(.invalidResponse, sent: .answered, what, status: response.status)
            failure.exchange = inbound.exchange
            return .silent(failure)
        }
        let status = operation.isMonitor ? Follow.status(in: response) : .missing
        switch status {
        case .failed(let word): if rules.failed == nil { return .failed(word) }
        case .done: if rules.done == nil { return .done }
        case .missing where response.status != 202: if rules.done == nil { return .done }
        case .missing, .open: break
        }
        return .running
    }

    /// The status in the answer's document, as far as its word is a usual one.
    private enum DocumentStatus {
        case done
        case failed(String)
        /// A word that is not usual for an end, a number, or no document at all: nothing says that it is over.
        case open
        case missing
    }

    /// Words for an end, in lower case, by which upstreams of many makers tell of one.
    private static let wordsOfSuccess: Set = [
        "succeeded", "success", "successful", "completed", "complete", "done", "finished",
    ]
    private static let wordsOfFailure: Set = [
        "failed", "failure", "error", "canceled", "cancelled", "aborted", "expired",
    ]

    private static func status(in response: HTTPResponse) -> DocumentStatus {
        switch value(at: statusPointer, in: response) {
        case .string(let text)?:
            let word = text.lowercased()
            if wordsOfSuccess.contains(word) { return .done }
            return wordsOfFailure.contains(word) ? .failed(word) : .open
        case nil, .null?:
            if case .bytes(let content) = response.body, !content.isEmpty { return .missing }
            return .open
        default: return .open
        }
    }

    private static let statusPointer = try? JSONPointer(parsing: "/status")

    private static func value(at pointer: JSONPointer?, in response: HTTPResponse) -> JSONValue? {
        guard let pointer, case .bytes(let content) = response.body,
            let range = (try? JSONScan.locate([pointer], in: content.span))?.first ?? nil
        else { return nil }
        return try? JSONValue(parsing: Array(content[range]))
    }

    fileprivate static func text(at pointer: JSONPointer?, in response: HTTPResponse) -> String? {
        if case .string(let text)? = value(at: pointer, in: response) { text } else { nil }
    }
}

/// The address of an operation, or of its result, as an answer names it: input of somebody else.
enum OperationAddress {
    /// Path and query at the origin that answered, and whether what stands there has a status of its own.
    case target(String, isMonitor: Bool)
    /// Why it is not followed, in a sentence.
    case refused(String)

    private static let operationLocation = FieldName("Operation-Location")

    /// Reads the answer to a request that was sent to `base` at `origin`; nil where it names no address.
    ///
    /// Only the origin that answered is asked, since the route's credential goes along.
    init?(_ place: Following.Locator?, _ response: HTTPResponse, base: String, at origin: Origin) {
        var (text, isMonitor): (String?, Bool) = (nil, true)
        let monitor = OperationAddress.operationLocation.flatMap { response.fields.contains($0) ? $0 : nil }
        switch place ?? .field(monitor ?? .location) {
        case .field(let name):
            guard response.fields.count(of: name) <= 1 else {
                self = .refused("it is named more than once")
                return
            }
            (text, isMonitor) = (response.fields[name], name != .location)
        case .pointer(let pointer): text = Follow.text(at: pointer, in: response)
        }
        guard let found = text else { return nil }
        guard found.utf8.count <= Following.addressLimit else {
            self = .refused("it is longer than \(Following.addressLimit) bytes")
            return
        }
        guard found.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }), !found.isEmpty else {
            self = .refused("it has characters that no address has")
            return
        }
        guard let target = Redirect.resolve(found, base: base, origin: origin),
            target.utf8.count <= 2 * Following.addressLimit
        else {
            self = .refused("it leads to another origin than the one that answered")
            return
        }
        self = .target(target, isMonitor: isMonitor)
    }
}

extension Route {
    fileprivate func takes(_ inbound: InboundResponse, _ wallSeconds: Int64) -> Bool {
        if case .success = ResponseJudge(route: self, method: .get).judge(inbound, wallSeconds: wallSeconds) {
            return true
        }
        return false
    }
}
