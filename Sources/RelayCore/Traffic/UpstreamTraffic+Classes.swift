import RelayBase
import RelayRoute

// Requests that are told apart, since the upstream is in trouble or nearly full.
extension UpstreamTraffic {
    /// Kept jobs that are claimed at once to find those that may go, and how soon after others.
    static let looksAtOnce = 64
    private static let betweenLooks: Duration = .milliseconds(50)
    /// The same while no class is answered, which is an outage more often than not; longer with the outage.
    private static let betweenHopefulLooks: Duration = .milliseconds(100)
    /// Those that were found and may not go come back one by one: fewer than are looked at, or the others were never found.
    private static let betweenReturns: Duration = .seconds(1) / 128
    private static let longestPause: Duration = .seconds(30)
    private static let longestLook: Duration = .milliseconds(250)
    /// For so long a probe that is due waits for a request of a class that fails.
    private static let longestAbsence: Duration = .seconds(1)
    /// For so long a class may take more than its share without an answer, however soon others are answered.
    private static let leastTimeout: Duration = .seconds(1)

    /// The breaker's answer to a request of that class.
    enum Gate: Hashable, Sendable {
        /// It asks the breaker, which is closed or wants a probe.
        case asks
        /// It goes beside the breaker.
        case goesBeside
        /// It finds out for its class.
        case tries
        /// Another finds out for its class.
        case waits(until: Instant)
        case refused(until: Instant)
    }

    func gate(_ asked: RequestClass?, _ settings: BreakerSettings, _ now: Instant) -> Gate {
        guard let until = breaker.refuses(settings, now) else { return .asks }
        if until <= now {
            guard let asked else { return .asks }
            // Its answer would let those through that fail; they find out themselves, as long as they come.
            if classes.isAnswered(asked), classes.hasFailing,
                now < until.advanced(by: UpstreamTraffic.longestAbsence)
            {
                return .goesBeside
            }
            // The class that has probed in vain leaves the next probe to another, for a moment.
            guard asked == lastProbe, classes.failing.count > 1 else { return .asks }
            let later = until.advanced(by: UpstreamTraffic.longestLook)
            return later <= now ? .asks : .refused(until: later)
        }
        guard let asked, !isForced(now) else { return .refused(until: until) }
        return switch classes.pass(asked, now) {
        case .goes: .goesBeside
        case .tries: .tries
        case .waits(let moment): .waits(until: min(moment, until))
        case .fails: .refused(until: until)
        }
    }

    /// A kept job was claimed, and may be sent or not: where it may not, others are looked for a little later.
    mutating func looked(inVain: Bool, _ now: Instant) {
        let isHopeful = breaker.state != .closed && classes.working == nil
        let wait =
            isHopeful ? UpstreamTraffic.betweenHopefulLooks * slowness(now) : UpstreamTraffic.betweenLooks
        nextLook = inVain ? now.advanced(by: wait) : now
    }

    /// By how much the search is slower while no class is answered: twice after half a minute, four times after a minute
    /// and a half.
    private func slowness(_ now: Instant) -> Int {
        let age = breaker.since.map { $0.duration(to: now).saturatedNanoseconds } ?? 0
        return 1 + Int(min(3, max(0, age / 30_000_000_000)))
    }

    /// For how long a kept job of a class that fails leaves the line to those of others; nil where it has not failed, or
    /// no other may be sent.
    ///
    /// While no class is answered it is back sooner: where all of the upstream fails, no job is to be late for its recovery.
    mutating func stepsAside(_ asked: RequestClass?, _ random: UInt64, _ now: Instant) -> Duration? {
        let chance = Int64(random >> 11)
        if classes.working != nil {
            return pause(atLeast: .seconds(1) + .nanoseconds(chance % 9_000_000_000), now)
        }
        guard let asked, !isForced(now), classes.mayPass(now), case .fails = classes.pass(asked, now) else {
            return nil
        }
        let slowness = slowness(now)
        return pause(
            atLeast: (.seconds(1) + .nanoseconds(chance % 1_000_000_000)) * slowness,
            between: UpstreamTraffic.betweenHopefulLooks * slowness / (UpstreamTraffic.looksAtOnce / 2),
            now
        )
    }

    /// The same of one that the upstream has asked to wait with until then.
    mutating func stepsAside(until end: Instant, _ now: Instant) -> Duration {
        let left = max(.seconds(1), now.duration(to: end))
        // A job that comes back with the end of the hold needs no moment of its own.
        if left <= max(.seconds(1), now.duration(to: lastReturn)) { return left }
        return min(pause(atLeast: .seconds(1), now), left)
    }

    /// A kept job of the kind that is spaced has come too early.
    mutating func cameTooFast(_ now: Instant) {
        keptTooFast = now
        looked(inVain: true, now)
    }

    /// Whether kept jobs of the kind that is spaced wait for turns.
    func hasKeptTooFast(_ now: Instant) -> Bool { keptTooFast.duration(to: now) < .seconds(2) }

    /// Longer the more have left it.
    private mutating func pause(
        atLeast least: Duration,
        between returns: Duration = betweenReturns,
        _ now: Instant
    ) -> Duration {
        lastReturn = min(
            max(lastReturn, now).advanced(by: returns),
            now.advanced(by: UpstreamTraffic.longestPause)
        )
        return max(least, now.duration(to: lastReturn))
    }

    /// Whether so many attempts are under way, and so few end, that those of a class may have taken the places of others.
    mutating func isCrowded(_ route: Route, _ now: Instant) -> Bool {
        let width = min(bound(route), limit)
        guard underWay * 2 >= width else { return false }
        if looks.at.duration(to: now) >= .seconds(1) { looks = (looks.last, endings, now) }
        return endings - looks.before < underWay
    }

    /// Since when nothing of the class has been answered, which has its share of what may be under way; nil where it may go.
    func stuck(_ asked: RequestClass, _ route: Route, _ now: Instant) -> Instant? {
        crowd.stuck(
            asked,
            width: min(bound(route), limit),
            underWay: underWay,
            timeout: max(
                usual.time(attempt: route.policy.timeouts.attempt),
                min(route.policy.timeouts.attempt, UpstreamTraffic.leastTimeout)
            ),
            now
        )
    }

    /// - Returns: whether the end of the attempt is to be told with its class.
    mutating func joins(_ asked: RequestClass, _ now: Instant) -> Bool {
        let isCounted = crowd.began(asked, now)
        if isCounted { isWatched = true }
        return isCounted
    }

    mutating func tries(_ asked: RequestClass, _ now: Instant) { classes.tries(asked, now) }

    /// Why the breaker holds a request back.
    func breakerHold(until: Instant, _ now: Instant) -> AttemptDeferral {
        var hold = AttemptDeferral(
            reason: isForced(now) ? .forcedOpen : .breakerOpen,
            upstream: name,
            until: until,
            since: openSince(now)
        )
        hold.cause = cause
        if case .probing = breaker.state { hold.isProbing = true }
        hold.request = failingText
        return hold
    }

    /// The requests that fail, and those that do not: `47 of 47 on POST /bad; GET /good is answered`.
    var failingText: String? {
        let failing = classes.failing
        guard let first = failing.first else { return nil }
        let more = failing.count > 1 ? " and \(failing.count - 1) more" : ""
        let works = classes.working.map { "; \($0.name) is answered" } ?? ""
        return
            "\(first.entry.failures) of \(first.entry.attempts) failed on \(first.asked.name)\(more)\(works)"
    }
}
