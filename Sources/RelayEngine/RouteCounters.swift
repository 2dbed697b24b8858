package import RelayCore

/// How a route is doing, in one word; what several of them fit goes by the first.
package enum RouteCondition: String, Sendable {
    /// The last request that ended failed, and the upstream has not succeeded since.
    case failing
    /// The last request that ended was answered by a stand-in.
    case degraded
    /// Requests wait for a place.
    case busy
    case ok
}

/// Figures of a route since the daemon started; they outlive a reload.
package struct RouteCounters: Sendable {
    package var requests: UInt64 = 0
    /// Answered by an upstream, as the route's rules understand success.
    package private(set) var succeeded: UInt64 = 0
    package private(set) var failed: UInt64 = 0
    /// Ended by the caller, who hung up or did not bring the whole body: neither a success nor a failure.
    package private(set) var cancelled: UInt64 = 0
    package private(set) var recovered: UInt64 = 0
    /// Answered by a stand-in.
    package private(set) var fallbacks: UInt64 = 0
    /// Failures that reached callers although the route never fails.
    package private(set) var breaches: UInt64 = 0
    /// Requests that ended, by a stand-in or a failure, since an upstream last succeeded.
    package private(set) var consecutiveFailures: UInt64 = 0
    package private(set) var lastFailure: (kind: FailureKind, detail: String, wallSeconds: Int64)?
    private var endedWithStandIn = false

    package init() {}

    /// Counts how a job ended.
    package mutating func ended(_ outcome: Outcome, isBreach: Bool, wallSeconds: Int64) {
        if isBreach { breaches += 1 }
        switch outcome.ending {
        case .answered(_, .upstream):
            succeeded += 1
            if outcome.attempts.count > 1 { recovered += 1 }
            consecutiveFailures = 0
        case .answered:
            fallbacks += 1
            consecutiveFailures += 1
            endedWithStandIn = true
        case .failed(let failure, _):
            if failure.kind == .cancelled || failure.kind == .clientGone {
                cancelled += 1
                return
            }
            failed += 1
            lastFailure = (failure.kind, failure.detail, wallSeconds)
            // That there was no room says nothing about the upstream.
            if failure.kind == .overloaded { return }
            consecutiveFailures += 1
            endedWithStandIn = false
            return
        }
        if let failure = outcome.attempts.last?.failure {
            lastFailure = (failure.kind, failure.detail, wallSeconds)
        }
    }

    /// How the route is doing while `pending` requests wait for a place.
    package func condition(pending: Int) -> RouteCondition {
        if consecutiveFailures > 0 { return endedWithStandIn ? .degraded : .failing }
        return pending > 0 ? .busy : .ok
    }
}
