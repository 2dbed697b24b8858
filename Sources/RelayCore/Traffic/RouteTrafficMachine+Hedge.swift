import RelayBase
import RelayRoute

/// Why an attempt that was late was not sent a second time.
package enum HedgeRefusal: String, CaseIterable, Sendable {
    case breaker, hold, window, permit, rate, budget, attempts, closed, constrained, preparation

    /// The reason in words, behind "not sent a second time: ".
    package var text: String {
        switch self {
        case .breaker: "the circuit breaker of the upstream is not closed (circuit_breaker)"
        case .hold: "the upstream has asked for patience (throttling)"
        case .window: "as many requests are under way as the upstream takes at present (adaptive_concurrency)"
        case .permit: "the route has no permit left (concurrency)"
        case .rate: "the turn of the route or of the upstream has not come (rate_limit, throttling)"
        case .budget:
            "second sendings have half of what retries may add to the route's load, and it is spent (retry_budget)"
        case .attempts: "no attempt of the request is left (max_attempts)"
        case .closed: "the route is closed, as planned (closed)"
        case .constrained: "the network is constrained (constrained)"
        case .preparation: "it could not be prepared"
        }
    }

    /// Whether another upstream would not be held back by it.
    var isOfUpstream: Bool {
        switch self {
        case .breaker, .hold, .window, .rate: true
        case .permit, .budget, .attempts, .closed, .constrained, .preparation: false
        }
    }
}

// The leave of a second sending, which waits for nothing.
extension RouteTrafficMachine {
    enum HedgeAnswer: Hashable, Sendable {
        /// It has taken the turn as well, to be given back where it is not sent.
        case go(AttemptGrant, RateSlot)
        case withheld(HedgeRefusal)
    }

    /// Asks whether an attempt that is late may be sent a second time now, to that upstream.
    ///
    /// A part of the traffic that only reports holds it back all the same: nobody is refused anything by that.
    mutating func hedge(
        _ route: Route,
        at index: Int,
        _ asked: RequestClass,
        isFull: Bool,
        _ now: Instant
    ) -> HedgeAnswer {
        know(route)
        let settings = route.policy.traffic
        if upstreams[index].hold(route, of: asked, now) != nil { return .withheld(.hold) }
        if upstreams[index].breaker.state != .closed || upstreams[index].isForced(now) {
            return .withheld(.breaker)
        }
        if upstreams[index].underWay >= upstreams[index].width(route)
            || upstreams[index].isCrowded(route, now)
        {
            return .withheld(.window)
        }
        // Where nobody gives permits the limit is that of what is under way.
        let underWay = upstreams.reduce(0) { $0 + $1.underWay }
        if underWay >= route.policy.concurrency.maxRequests { return .withheld(.permit) }
        let asking = Asking(kind: .another, upstreamIndex: index, isKept: false, slot: .none)
        if nextSlot(route, asking, asked, now) != nil { return .withheld(.rate) }
        if let spacing = route.reportedSpacing, rate.next(spacing, .request, now) > now {
            return .withheld(.rate)
        }
        guard takeHedge(settings.budget, now) else { return .withheld(.budget) }
        let slot = takeSlot(route, asking, asked, at: now, now)
        return .go(begin(route, asking, asked, isFull: isFull, isProbe: false, now), slot)
    }
}

extension RouteTraffic {
    /// How long a request of the class takes until it is late, with that upstream; nil while that is not known.
    func lateness(_ hedging: Hedging, _ asked: RequestClass, at upstreamIndex: Int) -> Duration? {
        tellTimes { $0.time(hedging.percentile, asked, at: upstreamIndex) }.map { max(hedging.least, $0) }
    }

    /// The first sending of such a request was answered after that time, or had lasted so long when the second was.
    func took(_ time: Duration, _ asked: RequestClass, at upstreamIndex: Int) {
        tellTimes { $0.took(time, asked, at: upstreamIndex) }
    }

    /// Asks whether an attempt that is late may be sent a second time now, to the first of those upstreams that takes it.
    func hedge(
        _ route: Route,
        at places: [Int],
        _ asked: RequestClass,
        _ now: Instant
    ) -> RouteTrafficMachine.HedgeAnswer {
        let isFull = isFull
        // Taken before it is known to be free: no request that comes meanwhile gets it.
        tell(route, now) { $0.hedgeBegan() }
        guard hasPermit else {
            hedgeEnded(route, now)
            return .withheld(.permit)
        }
        let answer = tell(route, now) { machine in
            var answer = RouteTrafficMachine.HedgeAnswer.withheld(.permit)
            for place in places {
                answer = machine.hedge(route, at: place, asked, isFull: isFull, now)
                guard case .withheld(let refusal) = answer, refusal.isOfUpstream else { break }
            }
            return answer
        }
        if case .withheld = answer { hedgeEnded(route, now) }
        return answer
    }

    /// The second sending that had leave, and that turn, was not sent.
    func notHedged(_ slot: RouteTrafficMachine.RateSlot, _ route: Route, _ now: Instant) {
        tell(route, now) {
            $0.notHedged(slot, route, now)
            $0.hedgeEnded()
        }
    }

    /// One of the two sendings of an attempt is over.
    func hedgeEnded(_ route: Route, _ now: Instant) { tell(route, now) { $0.hedgeEnded() } }
}
