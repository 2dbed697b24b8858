package import RelayBase

// A hold on an upstream would be worse than its failures if rules that help against those did not help against it.
extension RecoveryRule {
    /// Whether the rule is for that failure.
    ///
    /// A rule that goes elsewhere or answers in the upstream's stead acts on a hold as on what has led to it: on
    /// `breaker_open` when it acts on 500, 502, 503 or 504, on a refused or broken connection or on a timeout; on
    /// `rate_limited` when it acts on 429 or 503; and on what it was the last time. One that retries those has nothing to give then, and counts as spent.
    ///
    /// `cause` is what the upstream did last, under the name that the route has for it.
    package func matches(_ failure: Failure, isExhausted: Bool, _ cause: HoldCause? = nil) -> Bool {
        if on.matches(failure, isExhausted: isExhausted) { return true }
        guard failure.isHold else { return false }
        switch action {
        case .failover, .respond, .respondStale, .retry: break
        case .refreshCredentials, .consult, .fail, .deadLetter, .pauseRoute, .hold: return false
        }
        if let cause, on.matches(cause.failure, isExhausted: isExhausted) { return true }
        let causes = failure.kind == .breakerOpen ? Self.opening : Self.throttling
        return causes.contains { on.matches($0, isExhausted: isExhausted) }
    }

    private static let opening =
        ([500, 502, 503, 504] as [Status]).map { answered($0) }
        + [FailureKind.connectionRefused, .connectionTerminated, .httpResponseTimeout].map {
            Failure($0, sent: .unknown, "")
        }
    private static let throttling = ([429, 503] as [Status]).map { answered($0) }

    private static func answered(_ status: Status) -> Failure {
        var failure = Failure(.httpStatus, sent: .answered, "")
        failure.status = status
        return failure
    }
}
