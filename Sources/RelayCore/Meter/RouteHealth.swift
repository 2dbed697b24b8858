import RelayBase
import RelayJobs
package import RelayRoute

/// How a route has been doing.
///
/// A state is a rate, so that it does not go to and fro with each request: it is entered at one share and left at a lower
/// one. A minute without a failure in which something succeeded ends it too, as is needed where requests are few.
package struct RouteHealth: Sendable {
    /// The answers of the upstreams since the start, as the loops count them.
    struct Answered: Sendable {
        /// Requests that succeeded.
        var requests: UInt64 = 0
        /// Heads of answers whose content was on its way then.
        var heads: UInt64 = 0
    }

    /// Requests that ended, by a stand-in or a failure, since an upstream last succeeded.
    package private(set) var consecutiveFailures: UInt64 = 0
    package private(set) var lastFailure: LastFailure?
    /// The outcomes of the requests that the state goes by.
    package private(set) var lately = OutcomeHistory.Counts()
    /// Since when it has been failing or degraded, in milliseconds since 1970 UTC; nil while it is neither.
    package private(set) var since: Int64?

    private var history = OutcomeHistory()
    /// Since the start; of those that were good, the ones that the loops do not count.
    private var counts = OutcomeHistory.Counts()
    /// The answers by the time a request failed last, or was answered by a stand-in.
    private var answeredThen = Answered()
    private var isFailing = false
    private var isDegraded = false

    package init() {}

    /// Takes up what a job came to: one that is over, or one that waits for another attempt and may do so for days.
    mutating func count(_ report: JobReport, wall: Int64, _ answered: () -> Answered) {
        // The report of a kept job without an attempt says nothing about the upstream.
        let isUpstreamsDoing = !report.attempts.isEmpty || !report.isDurable
        guard report.state.isTerminal else {
            // That an attempt was ended, or that there was no room for it, says nothing about the upstream.
            if isUpstreamsDoing, let failure = report.attempts.last?.failure, !failure.isCallers,
                !RouteHealth.saysNothing(failure.kind)
            {
                note(failure, wall)
                add(isStandIn: false, answered(), wall)
            }
            return
        }
        let failure = report.failure ?? report.attempts.last?.failure
        switch report.state {
        case .succeeded where report.isFromUpstream: return
        case .cancelled: return
        case .succeeded:
            if !RouteHealth.saysNothing(failure?.kind) { took(isStandIn: true, answered(), wall) }
        // An answer that its caller asked for in vain is one of an upstream that is well.
        case _ where failure?.isPlainAnswer ?? false:
            consecutiveFailures = 0
            counts.good += 1
        default:
            if isUpstreamsDoing, !RouteHealth.saysNothing(report.failure?.kind) {
                took(isStandIn: false, answered(), wall)
            }
        }
        if let failure { note(failure, wall) }
    }

    /// That there was no room, no network or no time for a job says nothing about the upstream.
    private static func saysNothing(_ kind: FailureKind?) -> Bool {
        kind == .overloaded || kind == .networkConstrained || kind == .routeClosed
    }

    private mutating func took(isStandIn: Bool, _ answered: Answered, _ wall: Int64) {
        if answered.isMore(than: answeredThen) { consecutiveFailures = 0 }
        consecutiveFailures += 1
        add(isStandIn: isStandIn, answered, wall)
    }

    private mutating func add(isStandIn: Bool, _ answered: Answered, _ wall: Int64) {
        if isStandIn { counts.standIns += 1 } else { counts.failed += 1 }
        answeredThen = answered
        history.add(isStandIn: isStandIn, total(answered), at: wall)
        settle(answered, wall)
    }

    private mutating func note(_ failure: Failure, _ wall: Int64) {
        lastFailure = LastFailure(failure, wallSeconds: wall / 1_000)
    }

    private func total(_ answered: Answered) -> OutcomeHistory.Counts {
        var total = counts
        total.good &+= answered.requests
        return total
    }

    /// Takes up what has become of the requests that nobody told of.
    mutating func look(_ answered: Answered, wall: Int64) {
        if answered.isMore(than: answeredThen) { consecutiveFailures = 0 }
        guard counts != OutcomeHistory.Counts() else { return }
        history.note(total(answered), at: wall)
        settle(answered, wall)
    }

    private mutating func settle(_ answered: Answered, _ wall: Int64) {
        lately = history.lately(total(answered), at: wall)
        if isMended(answered, wall) {
            (isFailing, isDegraded, since) = (false, false, nil)
            return
        }
        let (all, failed, worse) = (lately.all, lately.failed, lately.failed &+ lately.standIns)
        isDegraded = worse > 0 && worse * 100 >= all * (isFailing || isDegraded ? 2 : 5)
        isFailing = failed > 0 && failed * 100 >= all * (isFailing ? 30 : 50)
        since = isFailing || isDegraded ? since ?? wall : nil
    }

    /// Whether nothing has failed for a minute, and something was answered since.
    private func isMended(_ answered: Answered, _ wall: Int64) -> Bool {
        guard let (last, good) = history.lastTrouble else { return true }
        guard wall - last >= OutcomeHistory.minute else { return false }
        return total(answered).good != good || answered.heads != answeredThen.heads
    }

    /// How the route is doing while `pending` requests wait for a permit.
    ///
    /// `isPartlyOpen` tells that the circuit breaker of one of several upstreams is open.
    package func condition(pending: Int, isPartlyOpen: Bool = false) -> RouteCondition {
        if isFailing { return .failing }
        if isDegraded || isPartlyOpen { return .degraded }
        return pending > 0 ? .busy : .ok
    }
}

extension RouteHealth.Answered {
    fileprivate func isMore(than earlier: Self) -> Bool {
        requests != earlier.requests || heads != earlier.heads
    }
}

extension Failure {
    /// Whether it is an answer that is passed on as it is and says that the upstream is well: a redirection, or that there
    /// is no such thing.
    fileprivate var isPlainAnswer: Bool {
        guard kind == .httpStatus, let status else { return false }
        return status == .notFound || (300..<400).contains(status.rawValue)
    }
}
