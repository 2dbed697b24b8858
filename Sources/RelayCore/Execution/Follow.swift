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
    /// Where the upstream has sent the look on to, and how often.
    var elsewhere: String?
    var moves = 0

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
        /// It is to be seen elsewhere; the failure is that of a redirect which does not say where.
        case moved(Failure)
        /// Nothing: another look may be luckier.
        case silent(Failure)

        /// Why it says nothing.
        var silence: Failure? {
            switch self {
            case .moved(let failure), .silent(let failure): failure
            case .running, .done, .failed, .gone: nil
            }
        }
    }

    func finding(_ inbound: InboundResponse, on route: Route, wallSeconds: Int64) -> Finding {
        let response = inbound.response
        let isThere = response.status.class == .success
        if result == nil, let failed = rules.failed, failed.takes(inbound, wallSeconds) {
            return .failed(nil)
        }
        if let failure = ResponseJudge.errorDocument(inbound, of: route, wallSeconds: wallSeconds) {
            return .silent(failure)
        }
        if result == nil, let done = rules.done, done.takes(inbound, wallSeconds) { return .done }
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
            return Follow.redirects.contains(response.status) ? .moved(failure) : .silent(failure)
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

    private static let redirects: [Status] = [301, 302, 307, 308]

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

    static func text(at pointer: JSONPointer?, in response: HTTPResponse) -> String? {
        if case .string(let text)? = value(at: pointer, in: response) { text } else { nil }
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
