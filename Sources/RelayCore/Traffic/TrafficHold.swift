/// The leave to send one attempt, given back with what came of it.
package struct TrafficLeave: Hashable, Sendable {
    /// Index of the upstream in the route's list.
    let place: Int
    let epoch: UInt32
    let began: Instant
    /// Whether, with it, as much is under way as may be.
    let wasFull: Bool
    let isRetry: Bool
    /// Whether it finds out for the breaker whether the upstream is back.
    let isProbe: Bool
}

/// The breaker of an upstream has opened, stays open or has closed.
package struct BreakerChange: Hashable, Sendable {
    package let upstream: String
    /// How long it is until it is probed; nil when it has closed.
    package let probeIn: Duration?

    init(upstream: String, state: BreakerMachine.State, now: Instant) {
        self.upstream = upstream
        if case .open(let until, _) = state { probeIn = now.duration(to: until) } else { probeIn = nil }
    }
}

/// Why an attempt does not begin now.
package struct TrafficHold: Sendable, Hashable {
    package enum Reason: Hashable, Sendable {
        /// The breaker of the upstream is open.
        case breakerOpen
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

        /// Why a job that is kept waits.
        package var waitReason: WaitReason {
            switch self {
            case .breakerOpen: .breakerOpen
            case .throttled, .tooFast, .budgetSpent: .throttled
            case .windowFull: .concurrency
            case .rateLimited: .rateLimited
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
    /// What the upstream did that is left alone; nil where that is not known.
    var cause: Cause?
    /// Whether its turn would leave the attempt too little time.
    var isTooLate = false
    /// For how long a kept job that it holds back is not claimed again; nil leaves that to its route.
    package var pause: Duration?

    /// A failure as rules are asked about it.
    struct Cause: Hashable, Sendable {
        var kind: FailureKind
        var status: Status?

        var failure: Failure { Failure(kind, sent: .answered, "", status: status) }
    }

    package init(reason: Reason, upstream: String? = nil, until: Instant, since: Instant? = nil) {
        self.reason = reason
        self.upstream = upstream
        self.until = until
        self.since = since
    }

    /// Whether another upstream would not be held back by it.
    var isOfUpstream: Bool {
        switch reason {
        case .breakerOpen, .throttled, .tooFast, .windowFull: true
        case .rateLimited, .budgetSpent: false
        }
    }
}

extension TrafficHold {
    /// What is wrong, in words, and until when where that is not told beside them.
    package func words(until moment: String? = nil) -> String {
        let name = upstream ?? ""
        return switch reason {
        case .breakerOpen:
            "the upstream \(name) has failed too often and is \(moment.map { "tried again \($0)" } ?? "left alone") (circuit_breaker)"
        case .throttled:
            "the upstream \(name) has asked for patience and is left alone\(moment.map { " until \($0)" } ?? "") (throttling)"
        case .tooFast:
            "the upstream \(name) has said that requests come too fast\(moment.map { "; its next turn comes \($0)" } ?? "") (throttling)"
        case .windowFull:
            "as many requests are under way as the upstream \(name) takes at present (adaptive_concurrency)"
        case .rateLimited:
            (moment.map { "the route's next turn comes \($0)" }
                ?? "the route's rate is used up for the moment")
                + " (rate_limit)"
        case .budgetSpent: "the retries of the route are as much of its load as they may be (retry_budget)"
        }
    }

    /// What an attempt comes to that does not wait for it.
    func failure(_ now: Instant) -> Failure {
        let wait = now.duration(to: until)
        let time = DurationText.text(.milliseconds(max(1, wait.saturatedNanoseconds / 1_000_000)))
        var failure = Failure(
            reason == .breakerOpen ? .breakerOpen : .rateLimited,
            sent: .neverSent,
            words(until: reason == .throttled ? "\(time) from now" : "in \(time)")
        )
        failure.retryAfter = wait
        return failure
    }
}

extension Failure {
    /// Whether the relay itself held the attempt back, for a reason that is the route's and not the job's.
    var isHold: Bool { sent == .neverSent && (kind == .breakerOpen || kind == .rateLimited) }
}
