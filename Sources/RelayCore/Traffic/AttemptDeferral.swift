package import RelayBase
package import RelayJobs
import RelayRoute

/// The leave to send one attempt, given back with what came of it.
package struct AttemptGrant: Hashable, Sendable {
    /// Index of the upstream in the route's list.
    let upstreamIndex: Int
    var epoch: UInt32
    /// Later by as long as content moved.
    var began: Instant
    /// Whether, with it, as much is under way as may be.
    let wasFull: Bool
    let isRetry: Bool
    /// Whether it finds out for the breaker whether the upstream is back.
    let isProbe: Bool
    /// Whether it finds out for its class while the breaker is open.
    var isTrial = false
    /// Whether it is counted among those of its class.
    var isCounted = false
    /// The parts of the route's traffic that would have held it back.
    var reported = TrafficParts()
}

/// The breaker of an upstream has opened, stays open or has closed.
package struct BreakerChange: Hashable, Sendable {
    package let upstream: String
    /// How long it is until it is probed; nil when it has closed.
    package let probeIn: Duration?
    /// The requests that fail, in words; nil where that is not known.
    package let failing: String?
    /// Whether nothing is held back by it.
    package let isReported: Bool

    init(
        upstream: String,
        state: BreakerMachine.State,
        failing: String? = nil,
        isReported: Bool = false,
        now: Instant
    ) {
        self.isReported = isReported
        self.upstream = upstream
        self.failing = failing
        if case .open(let until, _) = state { probeIn = now.duration(to: until) } else { probeIn = nil }
    }
}

/// The verdict of the route's traffic on an attempt that has ended.
package struct AttemptVerdict: Hashable, Sendable {
    /// The change of the circuit breaker; nil where it has not changed.
    package var change: BreakerChange?
    /// The cause of a failure, where the failure alone does not tell it.
    package var blamed: FailureCause?
}

/// Why an attempt does not begin now.
package struct AttemptDeferral: Sendable, Hashable {
    package enum Reason: Hashable, Sendable {
        /// The circuit breaker of the upstream is open.
        case breakerOpen
        /// An operator keeps it open.
        case forcedOpen
        /// It is open, and a request of the same class finds out whether the class is answered.
        case breakerTrial
        /// Nothing of its class is answered, which has its share of what may be under way.
        case unanswered
        /// The upstream has asked for patience.
        case throttled
        /// The upstream has said that attempts come too fast, and they are spaced.
        case tooFast
        /// As many attempts are under way as the upstream takes.
        case windowFull
        /// The route's own limit.
        case rateLimited
        /// The route's retries are enough for now.
        case budgetSpent
        /// The network is constrained.
        case networkConstrained
        /// The route is closed, as planned.
        case routeClosed

        /// Why a job that is kept waits.
        package var waitReason: WaitReason {
            switch self {
            case .breakerOpen, .forcedOpen, .breakerTrial: .breakerOpen
            case .throttled, .tooFast, .budgetSpent: .throttled
            case .windowFull, .unanswered: .concurrency
            case .rateLimited: .rateLimited
            case .networkConstrained: .networkConstrained
            case .routeClosed: .routeClosed
            }
        }
    }

    package var reason: Reason
    /// The upstream it is about; nil where it is the route.
    package var upstream: String?
    /// When it may be asked again.
    package var until: Instant
    /// Since when that has held; nil where that is not known.
    package var since: Instant?
    /// The failure for which the upstream is sent nothing; nil where that is not known.
    var cause: HoldCause?
    /// Whether a probe is under way.
    var isProbing = false
    /// The requests that it is about, in words; nil where it is about all.
    var request: String?
    /// Whether kept jobs that may go are looked for behind others that it is about.
    var isSearch = false
    /// Whether its turn would leave the attempt too little time.
    var isTooLate = false
    /// For how long a kept job that it holds back is not claimed again; nil leaves that to its route.
    package var pause: Duration?

    package init(reason: Reason, upstream: String? = nil, until: Instant, since: Instant? = nil) {
        self.reason = reason
        self.upstream = upstream
        self.until = until
        self.since = since
    }

    /// Whether another upstream would not be held back by it.
    var isOfUpstream: Bool {
        switch reason {
        case .breakerOpen, .forcedOpen, .breakerTrial, .unanswered, .throttled, .tooFast, .windowFull: true
        case .rateLimited, .budgetSpent, .networkConstrained, .routeClosed: false
        }
    }
}

extension AttemptDeferral {
    /// The reason in words, and until when it lasts where that is not told beside them.
    package func text(until moment: String? = nil) -> String {
        let name = upstream ?? ""
        let what = request.map { ": \($0)" } ?? ""
        return switch reason {
        case .breakerOpen where isSearch, .throttled where isSearch:
            "kept jobs before it may not be sent to the upstream \(name), and those behind them are looked at 64 at once (\(reason == .throttled ? "throttling" : "circuit_breaker"))\(what)"
        case .breakerOpen where isProbing:
            "the upstream \(name) has failed too often, and a request finds out now whether it answers (circuit_breaker)\(what)"
        case .breakerOpen:
            "the upstream \(name) has failed too often and is \(moment.map { "tried again \($0)" } ?? "not tried") (circuit_breaker)\(what)"
        case .forcedOpen:
            "an operator keeps the circuit breaker of the upstream \(name) open (waystation breaker)"
        case .breakerTrial:
            "the upstream \(name) has failed too often, and a request like this finds out whether it is answered (circuit_breaker)\(what)"
        case .unanswered:
            "no request like this has been answered by the upstream \(name)\(request.map { " (\($0))" } ?? "") for a while, and they have their share of what may be under way (concurrency)"
        case .throttled:
            "the upstream \(name) has asked for patience\(request.map { " with \($0)" } ?? ""), and nothing is sent\(moment.map { " until \($0)" } ?? "") (throttling)"
        case .tooFast:
            "the upstream \(name) has said that requests come too fast\(moment.map { "; its next turn comes \($0)" } ?? "") (throttling)"
        case .windowFull:
            "as many requests are under way as the upstream \(name) takes at present (adaptive_concurrency)"
        case .rateLimited:
            (moment.map { "the route's next turn comes \($0)" }
                ?? "the route's rate is used up for the moment")
                + " (rate_limit)"
        case .budgetSpent: "the retries of the route are as much of its load as they may be (retry_budget)"
        case .networkConstrained: "the network is constrained (constrained)"
        case .routeClosed:
            "the route is closed\(moment.map { " and opens \($0)" } ?? ""), as planned (closed)"
        }
    }

    /// Whether it says that the upstream does not answer.
    var isOfBreaker: Bool {
        switch reason {
        case .breakerOpen, .forcedOpen, .breakerTrial, .unanswered: true
        case .throttled, .tooFast, .windowFull, .rateLimited, .budgetSpent, .networkConstrained, .routeClosed:
            false
        }
    }

    /// Whether it ends soon enough for a request to wait for its end.
    var mayBeWaitedFor: Bool { reason != .routeClosed && (!isOfBreaker || reason == .breakerTrial) }

    /// The failure of an attempt that does not wait for it.
    package func failure(_ now: Instant) -> Failure {
        let wait = now.duration(to: until)
        let milliseconds = max(1, wait.saturatedNanoseconds / 1_000_000)
        let isClosed = reason == .routeClosed
        // A window lasts for hours, of which nobody needs the milliseconds.
        let time = DurationText.text(
            isClosed ? .seconds((milliseconds + 999) / 1_000) : .milliseconds(milliseconds)
        )
        var failure = Failure(
            isClosed ? .routeClosed : isOfBreaker ? .breakerOpen : .rateLimited,
            sent: .neverSent,
            text(until: reason == .throttled ? "\(time) from now" : "in \(time)")
        )
        failure.retryAfter = wait
        return failure
    }
}
