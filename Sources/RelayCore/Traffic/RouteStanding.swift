/// How the traffic of a route stands: what its upstreams take, and what holds it back.
package struct RouteStanding: Sendable {
    package struct Upstream: Sendable {
        package let name: String
        package let breaker: Breaker
        /// Since when the breaker is not closed; nil while it is.
        package let since: Instant?
        /// What the breaker remembers; nil where it is off.
        package let counts: BreakerMachine.Memory?
        /// When the breaker is probed next, or when an operator's word ends; nil where neither is.
        package let until: Instant?
        /// Nothing is sent before then, as the upstream has asked; nil where it has not.
        package let heldUntil: Instant?
        package let underWay: Int
        /// Attempts that may be under way; nil where only the route's permits bound them.
        package let window: Int?
    }

    /// The words of the API and the commands.
    package enum Breaker: String, Sendable {
        case closed
        case open
        case probing
        /// An operator keeps it open.
        case forcedOpen = "forced_open"
        /// An operator keeps it closed.
        case forcedClosed = "forced_closed"
        case off
    }

    /// In the order of the configuration.
    package let upstreams: [Upstream]
    /// Retries under way, their waits included.
    package let retries: Int
    /// Retries more that requests may decide on now; nil without a budget.
    package let retriesLeft: Int?
    /// Attempts more that may begin now by the route's rate; nil without one.
    package let turnsLeft: Int?
    /// When the route's rate has its next turn; nil where none has to be waited for.
    package let nextTurn: Instant?
}

extension RouteTrafficMachine {
    func standing(of route: Route, _ now: Instant) -> RouteStanding {
        let settings = route.policy.traffic
        let next = settings.rateLimit.map { rate.next($0, now) }
        return RouteStanding(
            upstreams: route.policy.upstreams.map { upstream in
                upstreams[upstream.name].map { $0.standing(of: route, upstream.name, now) }
                    ?? UpstreamTraffic(route).standing(of: route, upstream.name, now)
            },
            retries: budget.underWay,
            retriesLeft: budget.left(settings.budget, now),
            turnsLeft: settings.rateLimit.map { rate.room($0, now, atMost: $0.burst) },
            nextTurn: next.flatMap { $0 > now ? $0 : nil }
        )
    }
}

extension UpstreamTraffic {
    fileprivate func standing(of route: Route, _ name: String, _ now: Instant) -> RouteStanding.Upstream {
        let settings = route.policy.traffic
        let word: RouteStanding.Breaker
        var until: Instant?
        if let order = breaker.order(at: now) {
            word = order.order == .open ? .forcedOpen : .forcedClosed
            until = order.until
        } else {
            switch breaker.state {
            case .closed: word = settings.breaker.isEnabled ? .closed : .off
            case .open(let probe, _): (word, until) = (.open, probe)
            case .probing: word = .probing
            }
        }
        return RouteStanding.Upstream(
            name: name,
            breaker: word,
            since: breaker.since,
            counts: settings.breaker.isEnabled ? breaker.memory(at: now) : nil,
            until: until,
            heldUntil: hold(route, now),
            underWay: underWay,
            window: settings.window.isEnabled ? window.size : nil
        )
    }
}
