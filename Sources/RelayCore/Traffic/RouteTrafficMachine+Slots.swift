import RelayBase
import RelayRoute

// The turns of the route and of an upstream that is not to be sent too fast.
extension RouteTrafficMachine {
    /// The route's rate as it is now, which requests of an earlier one keep to as well; those of before there was any do
    /// not.
    func spacing(_ route: Route) -> RateSpacing? {
        route.spacing == nil ? nil : (self.route ?? route).spacing
    }

    /// The hold that keeps the attempt back until its turn; nil when the turn is now.
    func nextSlot(
        _ route: Route,
        _ asking: Asking,
        _ asked: RequestClass?,
        _ now: Instant
    ) -> AttemptDeferral? {
        let (upstream, side) = (upstreams[asking.upstreamIndex], asking.side)
        let (ours, its) = (spacing(route), upstream.spacing(route, of: asked, now))
        // The turn has to be one of both.
        let isBoth = ours != nil && its != nil
        let mine = ours.map { rate.next($0, side, now, afterAll: isBoth) } ?? now
        let theirs = its.map { upstream.rateLimit.next($0, side, now, afterAll: isBoth) } ?? now
        if max(mine, theirs) <= now { return nil }
        return theirs > mine
            ? AttemptDeferral(reason: .tooFast, upstream: upstream.name, until: theirs)
            : AttemptDeferral(reason: .rateLimited, until: mine)
    }

    @discardableResult
    mutating func takeSlot(
        _ route: Route,
        _ asking: Asking,
        _ asked: RequestClass?,
        at moment: Instant,
        _ now: Instant
    ) -> RateSlot {
        RateSlot(
            upstreamIndex: asking.upstreamIndex,
            route: spacing(route).map { rate.take($0, asking.side, at: moment, now) },
            upstream: upstreams[asking.upstreamIndex].spacing(route, of: asked, now).map {
                upstreams[asking.upstreamIndex].rateLimit.take($0, asking.side, at: moment, now)
            }
        )
    }

    /// The attempt that had taken that turn does not go.
    mutating func giveBack(_ slot: RateSlot, _ route: Route, _ now: Instant) {
        if let taken = slot.route, let spacing = spacing(route) { rate.giveBack(taken, spacing, now) }
        if let taken = slot.upstream, let spacing = upstreams[slot.upstreamIndex].spacingOfScope(route, now) {
            upstreams[slot.upstreamIndex].rateLimit.giveBack(taken, spacing, now)
        }
    }

    /// Kept jobs wait until then, for a turn or for an upstream: some turns are left to them.
    mutating func keptWait(_ route: Route, until: Instant, _ now: Instant) {
        know(route)
        if let spacing = spacing(route) { rate.wanted(spacing, now, until: until) }
        // Where one kind of request is spaced, kept jobs of that kind have their half of its turns.
        if let spacing = upstreams[first].spacingOfScope(route, now),
            !upstreams[first].isPacedApart || upstreams[first].hasKeptTooFast(now)
        {
            upstreams[first].rateLimit.wanted(spacing, now, until: until)
        }
    }

    /// The hold that has such a request wait for its turn, by the upstream's word or a rate; nil where none does.
    func wait(of asked: RequestClass, _ route: Route, _ now: Instant) -> AttemptDeferral? {
        guard !upstreams.isEmpty else { return nil }
        let upstream = upstreams[first]
        let asking = Asking(kind: .first, upstreamIndex: first, isKept: false, slot: .none)
        let hold =
            upstream.hold(route, of: asked, now).map { $0.hold(upstream.name) }
            ?? nextSlot(route, asking, asked, now)
        // Where another upstream takes it, it does not wait.
        return hold.flatMap { route.failovers(when: $0.reason).isEmpty ? $0 : nil }
    }
}

extension RouteTrafficMachine.Asking {
    var side: RateLimitMachine.Side { isKept ? .kept : .request }
}
