/// What the requests of one route together ask of its upstreams, and what they get.
struct RouteTrafficMachine: Sendable {
    /// By the upstream's name, so that a reload keeps what is known.
    private(set) var upstreams: [String: UpstreamTraffic] = [:]
    private(set) var budget = RetryBudgetMachine()
    private(set) var rate = RateLimitMachine()

    /// What kind of attempt asks for leave.
    enum Kind: Hashable, Sendable {
        case first
        /// With another credential, or at another upstream: no retry.
        case another
        /// A retry that was decided on while there was room in the budget.
        case retry
        /// The next attempt of a job that is kept, which still has to find that room.
        case keptRetry
    }

    enum Answer: Hashable, Sendable {
        case go(TrafficLeave)
        case held(TrafficHold)
    }

    /// How an attempt stands to the route's rate.
    enum Slot: Hashable, Sendable {
        /// It goes now or not at all.
        case none
        /// It would wait for its turn, which has to come before then.
        case wanted(before: Instant)
        /// It has waited.
        case taken
    }

    /// Asks whether an attempt at the upstream of that index may begin now; its end has to be told.
    ///
    /// Who wants to wait for a slot has it with the answer, whose moment is then that of its turn.
    mutating func leave(_ route: Route, place: Int, _ kind: Kind, slot: Slot, _ now: Instant) -> Answer {
        let (settings, upstream) = (route.policy.traffic, route.policy.upstreams[place].name)
        func held(_ reason: TrafficHold.Reason, by upstream: String? = nil, _ until: Instant) -> Answer {
            .held(TrafficHold(reason: reason, upstream: upstream, until: until))
        }
        var found = upstreams[upstream] ?? UpstreamTraffic(route)
        if let until = found.hold(route, now) { return held(.throttled, by: upstream, until) }
        if kind == .keptRetry, !budget.hasRoom(settings.budget, isKept: true, now) {
            return held(.budgetSpent, now.advanced(by: .seconds(1)))
        }
        if let limit = settings.rateLimit, slot != .taken {
            let next = rate.next(limit, now)
            if next > now {
                if case .wanted(let deadline) = slot, next < deadline { rate.take(limit, at: next) }
                return held(.rateLimited, next)
            }
        }
        // Asked last: whoever is to probe has to be able to.
        let answer = found.breaker.leave(settings.breaker, now)
        if case .refused(let until) = answer { return held(.breakerOpen, by: upstream, until) }
        if let limit = settings.rateLimit, slot != .taken { rate.take(limit, at: now) }
        switch kind {
        case .first: budget.began(now)
        case .retry, .another: break
        case .keptRetry: budget.retryBegan()
        }
        found.began()
        upstreams[upstream] = found
        let most = min(found.window.size, route.policy.concurrency.maxRequests)
        return .go(
            TrafficLeave(
                place: place,
                epoch: found.breaker.epoch,
                began: now,
                wasFull: found.underWay >= most,
                isRetry: kind == .retry || kind == .keptRetry
            )
        )
    }

    /// The attempt has ended; `random` is uniform in all of `UInt64`.
    ///
    /// - Returns: what has become of the breaker, when it has changed by that.
    mutating func ended(
        _ leave: TrafficLeave,
        _ word: AttemptWord,
        of route: Route,
        random: UInt64,
        _ now: Instant
    ) -> BreakerChange? {
        if leave.isRetry { budget.retryEnded(succeeded: word.succeeded, now) }
        let name = route.policy.upstreams[leave.place].name
        let hasChanged = upstreams[name]?.ended(
            word,
            leave,
            of: route,
            random: random,
            now
        )
        guard hasChanged == true, let state = upstreams[name]?.breaker.state else { return nil }
        return BreakerChange(upstream: name, state: state, now: now)
    }

    /// Whether a retry may be decided on.
    mutating func hasBudget(_ route: Route, _ now: Instant) -> Bool {
        budget.hasRoom(route.policy.traffic.budget, now)
    }

    mutating func retryBegan() { budget.retryBegan() }

    /// The retry was given up before its attempt.
    mutating func retryAbandoned(_ now: Instant) { budget.retryEnded(succeeded: nil, now) }

    /// How many attempts may begin now, of as many as `most`, and what holds the others back.
    func room(_ route: Route, _ now: Instant, atMost most: Int) -> (count: Int, hold: TrafficHold?) {
        let settings = route.policy.traffic
        var count = most
        var hold: TrafficHold?
        if let limit = settings.rateLimit {
            count = rate.room(limit, now, atMost: most)
            if count < most { hold = TrafficHold(reason: .rateLimited, until: rate.next(limit, now)) }
        }
        let open = route.openPlaces.compactMap { place in
            upstreams[route.policy.upstreams[place].name].map { $0.room(route, place, now) } ?? (Int.max, nil)
        }
        guard let best = open.max(by: { $0.0 < $1.0 }), best.0 < count else { return (count, hold) }
        return (best.0, best.1 ?? hold)
    }

    /// How many attempts the upstream in use takes at once.
    func width(of route: Route) -> Int {
        guard route.policy.traffic.window.isEnabled else { return .max }
        let known = route.openPlaces.map { upstreams[route.policy.upstreams[$0].name] }
        let inUse = known.first { $0?.breaker.state == .closed || $0 == nil } ?? known.first ?? nil
        return inUse?.window.size ?? route.policy.traffic.window.initial ?? .max
    }

    mutating func ordered(_ order: BreakerMachine.Order?, of upstream: String, until: Instant, _ route: Route)
    {
        upstreams[upstream, default: UpstreamTraffic(route)].breaker.ordered(order, until: until)
    }
}
