/// How a route is doing, in one word; what several of them fit goes by the first.
package enum RouteCondition: String, CaseIterable, Sendable {
    /// The last request that ended, or the last attempt of a durable job, failed, and the upstream has not succeeded
    /// since.
    case failing
    /// The last request that ended was answered by a stand-in.
    case degraded
    /// Requests wait for a permit.
    case busy
    case ok
}

/// How a route has been doing since an upstream last succeeded.
package struct RouteHealth: Sendable {
    /// Requests that ended, by a stand-in or a failure, since an upstream last succeeded.
    package private(set) var consecutiveFailures: UInt64 = 0
    package private(set) var lastFailure: LastFailure?
    private var endedWithStandIn = false
    /// Whether a durable job was put off by a failure since an upstream last succeeded.
    private var hasPutOff = false

    package init() {}

    /// Whether a success changes anything.
    var isTroubled: Bool { consecutiveFailures > 0 || hasPutOff }

    /// An upstream answers.
    mutating func isAnswered() {
        consecutiveFailures = 0
        hasPutOff = false
    }

    /// Takes up what a job came to: one that is over, or one that waits for another attempt and may do so for days.
    mutating func count(_ report: JobReport, wallSeconds: Int64) {
        // What came without an attempt says nothing about the upstream.
        let isUpstreamsDoing = !report.attempts.isEmpty || !report.isDurable
        guard report.state.isTerminal else {
            if isUpstreamsDoing, let failure = report.attempts.last?.failure {
                putOff(failure, wallSeconds: wallSeconds)
            }
            return
        }
        switch report.state {
        case .succeeded where report.isFromUpstream: isAnswered()
        case .succeeded:
            consecutiveFailures += 1
            endedWithStandIn = true
        case .cancelled: return
        default:
            // That there was no room says nothing about the upstream either.
            guard isUpstreamsDoing, report.failure?.kind != .overloaded else { break }
            consecutiveFailures += 1
            endedWithStandIn = false
        }
        if let failure = report.failure ?? report.attempts.last?.failure {
            note(failure, wallSeconds: wallSeconds)
        }
    }

    /// Takes up why a kept job waits for another attempt.
    private mutating func putOff(_ failure: Failure, wallSeconds: Int64) {
        // That an attempt was ended, or that there was no room for it, says nothing about the upstream.
        guard !failure.isCallers, failure.kind != .overloaded else { return }
        note(failure, wallSeconds: wallSeconds)
        hasPutOff = true
    }

    private mutating func note(_ failure: Failure, wallSeconds: Int64) {
        lastFailure = LastFailure(failure, wallSeconds: wallSeconds)
    }

    /// How the route is doing while `pending` requests wait for a permit.
    package func condition(pending: Int) -> RouteCondition {
        if hasPutOff { return .failing }
        if consecutiveFailures > 0 { return endedWithStandIn ? .degraded : .failing }
        return pending > 0 ? .busy : .ok
    }
}
