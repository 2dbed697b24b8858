package import RelayBase

// When a circuit breaker or a rate limit stops an attempt before it is sent, the rules for the failures behind that apply.
extension RecoveryRule {
    /// Whether the rule applies to the failure.
    ///
    /// A rule with `failover`, `respond`, `respond_stale` or `retry` also applies to an attempt that was not sent:
    ///
    /// | failure | `on` matches one of |
    /// |---|---|
    /// | `breaker_open` | 500, 502, 503, 504, `connection_refused`, `connection_terminated`, `http_response_timeout` |
    /// | `rate_limited` | 429, 503 |
    /// | `route_closed` | as `breaker_open`; `failover` never: no upstream of the route is sent anything |
    /// | all | `cause`, the latest failure that led to it, as the route classifies it |
    ///
    /// A `retry` rule that matches in this way alone does not retry; `RecoveryMachine` treats it as exhausted.
    package func matches(_ failure: Failure, isExhausted: Bool, _ cause: HoldCause? = nil) -> Bool {
        if failure.kind == .routeClosed, case .failover = action { return false }
        if on.matches(failure, isExhausted: isExhausted) { return true }
        guard failure.isHold, action.appliesBeforeSending else { return false }
        if let cause, on.matches(cause.failure, isExhausted: isExhausted) { return true }
        let causes = failure.kind == .rateLimited ? Self.rateLimitCauses : Self.breakerCauses
        return causes.contains { on.matches($0, isExhausted: isExhausted) }
    }

    // The statuses that open a circuit breaker by default; `cause` has others.
    private static let breakerCauses =
        ([500, 502, 503, 504] as [Status]).map { answered($0) }
        + [FailureKind.connectionRefused, .connectionTerminated, .httpResponseTimeout].map {
            Failure($0, sent: .unknown, "")
        }
    private static let rateLimitCauses = ([429, 503] as [Status]).map { answered($0) }

    private static func answered(_ status: Status) -> Failure {
        var failure = Failure(.httpStatus, sent: .answered, "")
        failure.status = status
        return failure
    }
}

extension RecoveryRule.Action {
    /// Whether it helps an attempt that was not sent: it fails over, answers or retries.
    fileprivate var appliesBeforeSending: Bool {
        switch self {
        case .failover, .respond, .respondStale, .retry: true
        case .refreshCredentials, .consult, .fail, .deadLetter, .pauseRoute, .hold: false
        }
    }
}

/// The failure that made a circuit breaker or a rate limit stop attempts, as rules match it.
package struct HoldCause: Hashable, Sendable {
    package var kind: FailureKind
    package var status: Status?

    package init(kind: FailureKind, status: Status?) {
        self.kind = kind
        self.status = status
    }

    /// The failure to match, of which rules look at kind and status alone.
    package var failure: Failure { Failure(kind, sent: .answered, "", status: status) }
}
