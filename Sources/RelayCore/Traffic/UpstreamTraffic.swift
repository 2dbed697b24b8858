/// How one upstream of a route takes what it is sent, and what it may be sent next.
struct UpstreamTraffic: Sendable {
    let name: String
    var breaker: BreakerMachine
    var window: WindowMachine
    var pace = PaceMachine()
    /// Its attempts are spaced while it has said that they come too fast.
    var turns = RateLimitMachine()
    /// Attempts under way.
    private(set) var underWay = 0
    /// Whether nothing is known to be wrong: neither breaker nor patience nor pace has to be asked.
    private(set) var isCalm = true
    /// Nothing is sent before then, as the upstream has asked, and since when.
    private var patience: (since: Instant, until: Instant)?
    /// What it did last that counts against it.
    private(set) var cause: TrafficHold.Cause?

    init(_ upstream: Upstream, of route: Route) {
        name = upstream.name
        breaker = BreakerMachine(route.policy.traffic.breaker)
        window = WindowMachine(route.policy.traffic.window, limit: route.policy.concurrency.maxRequests)
    }

    /// Until when it is held back, as it has asked, within what the route allows; nil when it is not.
    func patience(_ route: Route, _ now: Instant) -> (since: Instant, until: Instant)? {
        guard let patience, let longest = route.longestHold else { return nil }
        let until = min(patience.until, patience.since.advanced(by: longest))
        return now < until ? (patience.since, until) : nil
    }

    /// What its attempts are spaced by; nil while they are not.
    func spacing(_ route: Route, _ now: Instant) -> RateLimitMachine.Spacing? {
        route.longestHold == nil ? nil : pace.spacing(now)
    }

    /// How many attempts may be under way now.
    func width(_ route: Route) -> Int {
        let limit = route.policy.concurrency.maxRequests
        return route.policy.traffic.window.isEnabled ? max(1, min(window.size, limit)) : .max
    }

    /// How many attempts of kept jobs may begin now, of as many as `most`, and what holds the others back.
    func room(_ route: Route, _ now: Instant, atMost most: Int) -> (count: Int, hold: TrafficHold?) {
        if let (since, until) = patience(route, now) {
            return (0, TrafficHold(reason: .throttled, upstream: name, until: until, since: since))
        }
        if let until = breaker.refuses(route.policy.traffic.breaker, now) {
            let hold = TrafficHold(
                reason: .breakerOpen,
                upstream: name,
                until: until,
                since: openSince(now)
            )
            return (until <= now ? 1 : 0, hold)
        }
        guard let spacing = spacing(route, now) else { return (most, nil) }
        let count = turns.room(spacing, now, atMost: most)
        if count == most { return (count, nil) }
        let next = turns.next(spacing, .kept, now)
        return (count, TrafficHold(reason: .tooFast, upstream: name, until: next))
    }

    mutating func began(_ now: Instant) {
        underWay += 1
        pace.began(now)
    }

    /// An attempt has succeeded, and nothing is known to be wrong.
    ///
    /// - Returns: false where there is more to it than to remember that, and nothing is remembered.
    mutating func endedWell(_ leave: TrafficLeave, of route: Route, _ now: Instant) -> Bool {
        let settings = route.policy.traffic
        guard isCalm, leave.epoch == breaker.epoch, settings.breaker.slowDuration == nil,
            !settings.window.isEnabled || window.size >= route.policy.concurrency.maxRequests
        else { return false }
        if settings.window.isEnabled {
            let taken = now.nanoseconds &- leave.began.nanoseconds
            guard window.noted(nanoseconds: taken, wasFull: leave.wasFull) else { return false }
        }
        underWay -= 1
        breaker.worked(settings.breaker, now)
        if route.longestHold != nil { pace.took(now) }
        return true
    }

    /// An operator's word about the breaker; what was kept from the upstream comes back as after an outage.
    mutating func ordered(_ order: BreakerMachine.Order?, until: Instant, _ route: Route, _ now: Instant) {
        breaker.ordered(order, until: until, now)
        if order == .open { window.restart(route.policy.traffic.window) }
        lookRound(now)
    }

    /// Since when its breaker is open, or kept so.
    func openSince(_ now: Instant) -> Instant? { breaker.order(at: now)?.since ?? breaker.since }

    /// Whether attempts may be sent to it.
    func isInUse(_ route: Route, _ now: Instant) -> Bool {
        breaker.refuses(route.policy.traffic.breaker, now) == nil && patience(route, now) == nil
    }

    /// Finds out whether anything is wrong.
    private mutating func lookRound(_ now: Instant) {
        isCalm =
            breaker.isAtRest(now) && patience.map { $0.until <= now } ?? true && pace.rate(now) == nil
    }

    /// - Returns: whether the breaker has changed.
    mutating func ended(
        _ word: AttemptWord,
        _ leave: TrafficLeave,
        of route: Route,
        random: UInt64,
        _ now: Instant
    ) -> Bool {
        let settings = route.policy.traffic
        defer { lookRound(now) }
        underWay -= 1
        var (said, windowWord) = (word.breaker, word.window)
        if word.isImpatient, let usual = window.usualLatency, leave.began.duration(to: now) < usual * 4 {
            // Its caller had no time for what is usual here.
            (said, windowWord) = (.nothing, .nothing)
        }
        if said == .fails || word.hold != nil { cause = word.cause }
        if let longest = route.longestHold {
            if let hold = word.hold, hold > .zero {
                // Who asks for patience, and gets it, is there: it need not be probed.
                if said == .fails { said = .nothing }
                let until = now.advanced(by: min(hold, longest))
                // By what the route allows now: an earlier wish may be cut short by that.
                if patience(route, now).map({ $0.until < until }) ?? true { patience = (now, until) }
            }
            if word.isTooFast { pace.refused(began: leave.began, now) }
            if word.window == .fine { pace.took(now) }
        }
        // One attempt at a time says nothing of how many the upstream takes.
        if settings.window.isEnabled, !leave.isProbe {
            window.ended(
                windowWord,
                began: leave.began,
                wasFull: leave.wasFull,
                floor: settings.window.afterOutage,
                now
            )
        }
        let slow = settings.breaker.slowDuration.map { leave.began.duration(to: now) > $0 } ?? false
        let before = breaker.state
        let hasChanged = breaker.ended(
            said,
            epoch: leave.epoch,
            isSlow: slow,
            settings.breaker,
            random: random,
            now
        )
        if hasChanged, before != .closed, breaker.state == .closed { window.restart(settings.window) }
        return hasChanged
    }
}
