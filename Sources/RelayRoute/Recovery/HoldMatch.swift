package import RelayBase

// A circuit breaker or a rate limit can stop an attempt before it is sent. A rule that helps against the failures behind
// that must help against it, too.
extension RecoveryRule {
    /// Whether the rule applies to the failure.
    ///
    /// A rule with `failover`, `respond`, `respond_stale` or `retry` also applies to an attempt that was not sent:
    ///
    /// | failure | `on` matches one of |
    /// |---|---|
    /// | `breaker_open` | 500, 502, 503, 504, `connection_refused`, `connection_terminated`, `http_response_timeout` |
    /// | `rate_limited` | 429, 503 |
    /// | both | `cause`, the latest failure that led to it, under the name that the route has for it |
    ///
    /// A `retry` rule that does not name the failure itself has no attempt to give and counts as spent.
    package func matches(_ failure: Failure, isExhausted: Bool, _ cause: HoldCause? = nil) -> Bool {
        if on.matches(failure, isExhausted: isExhausted) { return true }
        guard failure.isHold, action.appliesBeforeSending else { return false }
        if let cause, on.matches(cause.failure, isExhausted: isExhausted) { return true }
        let causes = failure.kind == .breakerOpen ? Self.breakerCauses : Self.rateLimitCauses
        return causes.contains { on.matches($0, isExhausted: isExhausted) }
    }

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
    /// Whether it goes elsewhere, answers, or tries again.
    fileprivate var appliesBeforeSending: Bool {
        switch self {
        case .failover, .respond, .respondStale, .retry: true
        case .refreshCredentials, .consult, .fail, .deadLetter, .pauseRoute, .hold: false
        }
    }
}

/// The failure for which an upstream is sent nothing, as rules are asked about it.
package struct HoldCause: Hashable, Sendable {
    package var kind: FailureKind
    package var status: Status?

    package init(kind: FailureKind, status: Status?) {
        self.kind = kind
        self.status = status
    }

    package var failure: Failure { Failure(kind, sent: .answered, "", status: status) }
}
