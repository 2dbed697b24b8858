/// How one upstream of a route takes what it is sent, and what it may be sent next.
struct UpstreamTraffic: Sendable {
    var breaker: BreakerMachine
    var window: WindowMachine
    /// Attempts under way.
    private(set) var underWay = 0
    /// Nothing is sent before then, as the upstream has asked.
    private(set) var heldUntil: Instant?

    init(_ route: Route) {
        breaker = BreakerMachine(route.policy.traffic.breaker)
        window = WindowMachine(route.policy.traffic.window, limit: route.policy.concurrency.maxRequests)
    }

    /// Until when it is held back, as it has asked; nil when it is not.
    func hold(_ route: Route, _ now: Instant) -> Instant? {
        guard route.longestHold != nil, let heldUntil, now < heldUntil else { return nil }
        return heldUntil
    }

    /// How many attempts may begin now, and what holds the others back.
    func room(_ route: Route, _ place: Int, _ now: Instant) -> (count: Int, hold: TrafficHold?) {
        let (settings, name) = (route.policy.traffic, route.policy.upstreams[place].name)
        if let until = hold(route, now) {
            return (0, TrafficHold(reason: .throttled, upstream: name, until: until))
        }
        guard let until = breaker.refuses(settings.breaker, now) else { return (.max, nil) }
        let hold = TrafficHold(reason: .breakerOpen, upstream: name, until: until)
        return (until <= now ? 1 : 0, hold)
    }

    mutating func began() { underWay += 1 }

    /// - Returns: whether the breaker has changed.
    mutating func ended(
        _ word: AttemptWord,
        _ leave: TrafficLeave,
        of route: Route,
        random: UInt64,
        _ now: Instant
    ) -> Bool {
        let (settings, limit) = (route.policy.traffic, route.policy.concurrency.maxRequests)
        underWay -= 1
        var said = word.breaker
        if let longest = route.longestHold, let hold = word.hold, hold > .zero {
            // Who asks for patience, and gets it, is there: it need not be probed.
            if said == .fails { said = .nothing }
            let until = now.advanced(by: min(hold, longest))
            heldUntil = max(heldUntil ?? until, until)
        }
        if settings.window.isEnabled {
            window.ended(word.window, began: leave.began, wasFull: leave.wasFull, limit: limit, now)
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
