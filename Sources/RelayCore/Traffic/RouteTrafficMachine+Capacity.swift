import RelayBase
import RelayRoute

// The room by which kept jobs are claimed.
extension RouteTrafficMachine {
    /// How many attempts of kept jobs may begin now, of as many as `most`, and what holds the others back.
    func capacity(_ route: Route, _ now: Instant, atMost most: Int) -> (count: Int, hold: AttemptDeferral?) {
        let spacing = spacing(route)
        let count = spacing.map { rate.capacity($0, now, atMost: most) } ?? most
        let turn = spacing.map { AttemptDeferral(reason: .rateLimited, until: rate.next($0, .kept, now)) }
        guard count > 0, !upstreams.isEmpty else { return (count, count < most ? turn : nil) }
        var best = upstreams[first].capacity(route, now, atMost: count)
        if best.count == 0, let hold = best.hold, hold.isOfUpstream {
            for place in route.failovers(when: hold.reason) {
                let other = upstreams[place].capacity(route, now, atMost: count)
                let until = min(best.hold?.until ?? hold.until, other.hold?.until ?? hold.until)
                if other.count > best.count { best = other } else { best.hold?.until = until }
            }
        }
        return (best.count, best.hold ?? (count < most ? turn : nil))
    }

    /// The width before anything else is known of the route as it is now: what its upstream has shown.
    func widthWhenConfigured(_ route: Route) -> Int {
        upstreams.isEmpty ? route.policy.traffic.window.initialWidth : upstreams[first].bound(route)
    }

    /// How many requests may be on their way at once: as many as the upstream in use takes, and those that rest.
    ///
    /// While none is in use, since breakers are open, nothing but a probe is sent: nobody has to wait for a permit to hear that.
    func width(of route: Route, _ now: Instant) -> Int {
        let width = widthOfRequests(route, now)
        // Each second sending has a permit that no other request gets meanwhile.
        return hedging == 0 ? width : max(1, min(width, route.policy.concurrency.maxRequests) - hedging)
    }

    private func widthOfRequests(_ route: Route, _ now: Instant) -> Int {
        guard !upstreams.isEmpty else { return route.policy.traffic.window.initialWidth }
        var place = first
        if !upstreams[first].isCalm {
            // Asked by its parts: a function of the upstream that asks the route as well is given a copy of it.
            let reports = route.reporting.contains(.breaker) && !upstreams[first].isForced(now)
            if !reports, upstreams[first].breaker.refuses(route.policy.traffic.breaker, now) != nil {
                let others = route.failovers(when: .breakerOpen)
                guard let other = others.first(where: { upstreams[$0].isInUse(route, now) }) else {
                    return .max
                }
                place = other
            } else if upstreams[first].hold(route, now) != nil {
                place = route.failovers(when: .throttled).first { upstreams[$0].isInUse(route, now) } ?? first
            }
        }
        let width = route.reporting.contains(.window) ? .max : upstreams[place].width(route)
        return width == .max ? width : width + resting
    }
}
