import RelayBase
import RelayRoute

/// The word of an attempt's end on its upstream; on the request it says nothing.
struct AttemptFeedback: Sendable, Equatable {
    var breaker = BreakerMachine.Signal.nothing
    var window = WindowMachine.Signal.nothing
    /// Whether a retry did what it was for; nil where nothing is known.
    var succeeded: Bool?
    /// How long requests are to wait, as the upstream has asked.
    var hold: HoldTable.RequestedWait?
    /// Whether it says that it was sent too much in too short a time.
    var isTooFast = false
    /// Whether the caller gave up, or its time was over: that counts only where it waited longer than usual.
    var isCallersEnd = false
    /// The failure for which traffic to an upstream is stopped, as rules are asked about it.
    var cause: HoldCause?

    /// Nothing is known.
    init() {}

    /// Whether it says no more than that all is well.
    var isPlainSuccess: Bool { breaker == .works && window == .fine && hold == nil && !isTooFast }

    /// The content of an answer has ended like that whose head was with its caller before.
    init(_ end: AnswerEnd, of attempt: @autoclosure () -> Attempt?, on route: Route) {
        self.init()
        breaker = .works
        guard case .broke(let broken) = end, let failure = end.failure(route, attempt()) else { return }
        self = AttemptFeedback(
            broken,
            named: failure,
            route.policy.traffic.breaker,
            nil,
            wallMilliseconds: 0
        )
    }

    /// An answer that is taken: what its upstream says of its own limit counts.
    init(_ response: HTTPResponse, wallMilliseconds: Int64) {
        (breaker, window, succeeded) = (.works, .fine, true)
        hold = RateLimitFields.hold(response.fields, wallMilliseconds: wallMilliseconds)
    }

    /// The word of an attempt that gave up without an answer, when its caller waited longer than usual.
    static let unanswered: AttemptFeedback = {
        var word = AttemptFeedback()
        (word.breaker, word.window, word.succeeded) = (.fails, .lost, false)
        return word
    }()

    /// A failure, under its own name and under the route's; `fields` are those of its answer, where one came.
    init(
        _ failure: Failure,
        named: Failure,
        _ settings: BreakerSettings,
        _ fields: HeaderFields?,
        wallMilliseconds: Int64
    ) {
        let whose = named.saysStop ? .request : failure.cause
        cause = HoldCause(kind: named.kind, status: named.treatedAsStatus ?? named.status)
        switch whose {
        case .relay, .caller:
            cause = nil
            return
        case .request: (breaker, window) = (.works, .fine)
        case .tooMany:
            window = .tooMuch
            isTooFast = failure.status == 429
            // Where nobody waits as long as it asks, it is an upstream that does not serve.
            breaker = failure.status == 429 ? .works : .fails
        case .upstream:
            breaker = .fails
            // An upstream that was not reached says nothing of how much it takes.
            window =
                failure.status == 503 && !failure.isCutOff
                ? .tooMuch
                : failure.status != nil && !failure.isCutOff
                    ? .fine : failure.sent == .neverSent ? .nothing : .lost
        }
        succeeded = false
        guard let status = failure.status else { return }
        if settings.statuses.contains(status) { breaker = .fails }
        if named.saysStop { return }
        hold = fields.flatMap { RateLimitFields.hold($0, wallMilliseconds: wallMilliseconds) }
        // 403 is what some answer instead of 429.
        if status == 429 || status == 503 || status == 403, let wait = failure.retryAfter {
            hold = HoldTable.RequestedWait(wait: wait, resource: fields.flatMap(RateLimitFields.resource))
        }
    }
}
