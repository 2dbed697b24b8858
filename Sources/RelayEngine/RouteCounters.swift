package import RelayCore

/// How a route is doing, in one word; what several of them fit goes by the first.
package enum RouteCondition: String, CaseIterable, Sendable {
    /// The last request that ended, or the last attempt of a durable job, failed, and the upstream has not succeeded
    /// since.
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
    package private(set) var lastFailure:
        (kind: FailureKind, status: Status?, detail: String, wallSeconds: Int64)?
    private var endedWithStandIn = false
    /// Whether a durable job was put off by a failure since an upstream last succeeded.
    private var hasPutOff = false

    package init() {}

    /// Counts how a job ended.
    package mutating func ended(_ outcome: Outcome, isBreach: Bool, wallSeconds: Int64) {
        if isBreach { breaches += 1 }
        switch outcome.ending {
        case .answered(_, .upstream):
            succeeded += 1
            if outcome.attempts.count > 1 { recovered += 1 }
            consecutiveFailures = 0
            hasPutOff = false
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
            lastFailure = (failure.kind, failure.status, failure.detail, wallSeconds)
            // That there was no room says nothing about the upstream.
            if failure.kind == .overloaded { return }
            consecutiveFailures += 1
            endedWithStandIn = false
            return
        }
        if let failure = outcome.attempts.last?.failure {
            lastFailure = (failure.kind, failure.status, failure.detail, wallSeconds)
        }
    }

    /// Counts how a durable job ended, which is a request then.
    mutating func ended(_ end: DurableEnd, _ source: AnswerSource?, wallSeconds: Int64) {
        requests += 1
        if let failure = end.failure ?? end.attempts.last?.failure, end.state != .cancelled {
            lastFailure = (failure.kind, failure.status, failure.detail, wallSeconds)
        }
        switch end.state {
        case .succeeded where source == nil || source == .upstream:
            succeeded += 1
            if end.attemptCount > 1 { recovered += 1 }
            consecutiveFailures = 0
            hasPutOff = false
        case .succeeded:
            fallbacks += 1
            consecutiveFailures += 1
            endedWithStandIn = true
        case .cancelled: cancelled += 1
        default:
            failed += 1
            consecutiveFailures += 1
            endedWithStandIn = false
        }
    }

    /// Takes up why a durable job waits for another attempt: it has not ended, and may not for days.
    mutating func putOff(_ failure: Failure, wallSeconds: Int64) {
        // That an attempt was ended, or that there was no room for it, says nothing about the upstream.
        guard ![.cancelled, .clientGone, .overloaded].contains(failure.kind) else { return }
        lastFailure = (failure.kind, failure.status, failure.detail, wallSeconds)
        hasPutOff = true
    }

    /// Counts a durable job whose time ran out while it waited, which is a request then.
    mutating func expired() {
        requests += 1
        failed += 1
        consecutiveFailures += 1
        endedWithStandIn = false
    }

    /// Counts a durable job that ended in the store, which is a request then and says nothing about the upstream.
    mutating func ended(_ job: EndedJob) {
        requests += 1
        switch job.state {
        case .succeeded: succeeded += 1
        case .cancelled: cancelled += 1
        default: failed += 1
        }
    }

    /// How the route is doing while `pending` requests wait for a place.
    package func condition(pending: Int) -> RouteCondition {
        if hasPutOff { return .failing }
        if consecutiveFailures > 0 { return endedWithStandIn ? .degraded : .failing }
        return pending > 0 ? .busy : .ok
    }
}
