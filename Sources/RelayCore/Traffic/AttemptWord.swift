/// What the end of an attempt says of its upstream; of the request it says nothing.
struct AttemptWord: Sendable, Equatable {
    var breaker = BreakerMachine.Word.nothing
    var window = WindowMachine.Word.nothing
    /// Whether a retry did what it was for; nil where nothing is known.
    var succeeded: Bool?
    /// How long the upstream is to be left alone, as it has asked.
    var hold: Duration?
    /// Whether it says that it was sent too much in too short a time.
    var isTooFast = false

    /// Whether it was given up sooner than the route would have done, since its caller had less time.
    var isImpatient = false
    /// What an upstream did that is left alone for it, as rules are asked about it.
    var cause: TrafficHold.Cause?

    /// Nothing is known.
    init() {}

    /// Whether it says no more than that all is well.
    var isPlainSuccess: Bool { breaker == .works && window == .fine && hold == nil && !isTooFast }

    /// An answer that is taken: what its upstream says of its own limit counts.
    init(_ response: HTTPResponse, wallMilliseconds: Int64) {
        (breaker, window, succeeded) = (.works, .fine, true)
        hold = RateLimitFields.hold(response.fields, wallMilliseconds: wallMilliseconds)
    }

    /// One that `saysStop` is about its request, whatever its status.
    init(_ failure: Failure, named: Failure, _ fields: HeaderFields?, wallMilliseconds: Int64) {
        if failure.isOurs { return }
        succeeded = false
        cause = TrafficHold.Cause(kind: named.kind, status: named.treatedAsStatus ?? named.status)
        if named.saysStop {
            (breaker, window) = (.works, .fine)
            return
        }
        let status = failure.status
        if status != nil {
            hold = fields.flatMap { RateLimitFields.hold($0, wallMilliseconds: wallMilliseconds) }
            // 403 is what some answer instead of 429.
            if status == 429 || status == 503 || status == 403 { hold = failure.retryAfter ?? hold }
        }
        if failure.isCutOff {
            // Its head may have looked like health.
            (breaker, window) = (.fails, failure.sent == .neverSent ? .nothing : .lost)
        } else if status == 429 || status == 503 {
            window = .tooMuch
            isTooFast = status == 429
            breaker = status == 503 ? .fails : .works
        } else if failure.saysUpstreamFailed {
            breaker = .fails
            // Who was not reached says nothing of how much it takes.
            window = status != nil ? .fine : failure.sent == .neverSent ? .nothing : .lost
        } else {
            (breaker, window) = (.works, .fine)
        }
    }
}

extension Failure {
    /// Whether the upstream did not answer, or not to the end.
    fileprivate var isCutOff: Bool {
        FailureGroup.timeout.contains(kind) || FailureGroup.connection.contains(kind)
            || kind == .httpResponseIncomplete
    }

    /// Whether the fault is on this side: nothing was sent for want of a descriptor, of memory, of a name server, or nobody
    /// waits any more.
    fileprivate var isOurs: Bool {
        // Whoever goes away in the middle of an answer says nothing of who sends it.
        if kind == .cancelled || kind == .clientGone { return true }
        if status != nil { return false }
        return switch kind {
        // Its time was over on this side of the wire, as when the disk was slow to take its record.
        case .httpResponseTimeout: sent == .neverSent
        case .preparation, .credentialsFailed, .overloaded, .connectionLimitReached,
            .dnsTimeout,
            .dnsError, .destinationIPProhibited, .deadlineExceeded, .interrupted, .breakerOpen, .rateLimited,
            .storedBodyCorrupt, .storedBodyUnread, .attemptUnrecorded:
            true
        default: false
        }
    }
}
