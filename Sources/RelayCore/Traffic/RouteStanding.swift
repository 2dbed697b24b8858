package import RelayBase
import RelayRoute

/// How the traffic of a route stands: what its upstreams take, and what holds it back.
package struct RouteStanding: Sendable {
    package struct Upstream: Sendable {
        package let name: String
        package let breaker: Breaker
        /// Since when the breaker is not closed; nil while it is.
        package let since: Instant?
        /// The attempts that the breaker remembers; nil where it is off.
        package let counts: BreakerMachine.Memory?
        /// When the breaker is probed next, or when an operator's word ends; nil where neither is.
        package let until: Instant?
        /// Requests that fail while the breaker is not closed, most failures first, at most eight.
        package let failing: [FailingRequests]
        /// Nothing is sent before then, as the upstream has asked; nil where it has not.
        package let heldUntil: Instant?
        /// The waits it has asked of some requests.
        package let holds: [HeldRequests]
        /// Attempts a second that it is sent at most, since it has said that they come too fast; nil where it has not.
        package let rate: Double?
        /// The requests that are so; nil where all are.
        package let ratedRequests: String?
        package let underWay: Int
        /// Attempts that may be under way; nil where only the route's permits bound them.
        package let window: Int?
    }

    /// Requests of a class that fail.
    package struct FailingRequests: Sendable {
        /// Method and path, as far as requests are told apart.
        package let requests: String
        package let user: UInt32?
        package let attempts: UInt32
        package let failed: UInt32
    }

    /// Requests that wait as the upstream has asked.
    package struct HeldRequests: Sendable {
        package let requests: String
        package let until: Instant
    }

    /// The words of the API and the commands.
    package enum Breaker: String, CaseIterable, Sendable {
        case closed
        case open
        case probing
        /// An operator keeps it open.
        case forcedOpen = "forced_open"
        /// An operator keeps it closed.
        case forcedClosed = "forced_closed"
        /// It would be open or probing, and only tells so.
        case wouldBeOpen = "would_be_open"
        case off
    }

    /// In the order of the configuration.
    package let upstreams: [Upstream]
    /// Retries under way, their waits included.
    package let retries: Int
    /// Retries more that requests may decide on now; nil without a budget.
    package let retriesLeft: Int?
    /// Attempts more that may begin now by the route's rate; nil without one.
    package let slotsLeft: Int?
    /// When the route's rate has its next turn; nil where none has to be waited for.
    package let nextSlot: Instant?
}

extension RouteTrafficMachine {
    mutating func standing(of route: Route, _ now: Instant) -> RouteStanding {
        know(route)
        let next = route.policy.traffic.rateLimit.map { rate.next($0.spacing, .request, now) }
        return RouteStanding(
            upstreams: upstreams.map { $0.standing(of: route, now) },
            retries: budget.underWay,
            retriesLeft: budget.left(route.policy.traffic.budget, now),
            slotsLeft: route.policy.traffic.rateLimit.map {
                rate.capacity($0.spacing, now, atMost: $0.burst)
            },
            nextSlot: next.flatMap { $0 > now ? $0 : nil }
        )
    }
}

extension UpstreamTraffic {
    fileprivate func standing(of route: Route, _ now: Instant) -> RouteStanding.Upstream {
        let settings = route.policy.traffic
        let word: RouteStanding.Breaker
        var (since, until) = (breaker.since, Instant?.none)
        if let order = breaker.order(at: now) {
            word = order.order == .open ? .forcedOpen : .forcedClosed
            (since, until) = (order.since, order.until)
        } else {
            switch breaker.state {
            case .closed: word = settings.breaker.isEnabled ? .closed : .off
            case .open where route.reporting.contains(.breaker):
                (word, until) = (.wouldBeOpen, breaker.refuses(settings.breaker, now))
            case .probing where route.reporting.contains(.breaker): word = .wouldBeOpen
            case .open: (word, until) = (.open, breaker.refuses(settings.breaker, now))
            case .probing: word = .probing
            }
        }
        return RouteStanding.Upstream(
            name: name,
            breaker: word,
            since: since,
            counts: settings.breaker.isEnabled ? breaker.memory(at: now) : nil,
            until: until,
            failing: breaker.state == .closed
                ? []
                : classes.failing.prefix(8).map { asked, entry in
                    RouteStanding.FailingRequests(
                        requests: asked.name,
                        user: asked.user,
                        attempts: entry.attempts,
                        failed: entry.failures
                    )
                },
            heldUntil: hold(route, now)?.until,
            holds: route.longestHold.map { longest in
                holds.standing(longest: longest, now).compactMap { hold in
                    hold.scope.text.map { RouteStanding.HeldRequests(requests: $0, until: hold.until) }
                }
            } ?? [],
            rate: route.longestHold == nil ? nil : pace.rate(now),
            ratedRequests: pace.rate(now) == nil ? nil : pace.scope?.name,
            underWay: underWay,
            window: settings.window.isEnabled ? width(route) : nil
        )
    }
}
