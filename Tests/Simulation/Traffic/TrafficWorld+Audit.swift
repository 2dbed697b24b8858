import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport

// The orders of operators, and the looks from time to time.
extension TrafficWorld {
    func meddle() {
        guard checker.present.breaker != nil, healedAt == nil else { return }
        order(draw.below(listed.count), opens: draw.pick([true, false, nil]), for: draw.time(100...10_000))
    }

    func order(_ place: Int, opens: Bool?, for time: Int64) {
        guard let entry, let jobs else { return }
        // An attempt that ends in this instant belongs to the time before.
        look()
        let until = timeline.now + time
        checker.ordered(place, opens: opens, until: until)
        if plant == .losesOrder { return }
        let told = plant == .longOrder ? timeline.now + 5 * time : until
        let present = Instant(nanoseconds: timeline.now)
        entry.memory.traffic.order(
            opens.map { $0 ? .open : .closed },
            of: listed[place].name,
            entry.route,
            until: Instant(nanoseconds: opens == nil ? timeline.now : told),
            present
        )
        checker.forgetWidth(place)
        jobs.resumed(TrafficWorld.route)
    }

    /// The standing that the route tells of itself.
    private var standing: RouteStanding? {
        guard let entry, !checker.sides.allSatisfy(\.begun.isEmpty) else { return nil }
        return entry.memory.traffic.standing(of: unbounded, Instant(nanoseconds: timeline.now))
    }

    /// A route that bounds nothing, to see the windows as they are.
    private var unbounded: Route {
        var policy = RoutePolicy(upstreams: listed)
        policy.concurrency.maxRequests = 65_535
        policy.traffic.rateLimit = entry?.route.policy.traffic.rateLimit
        return Route(name: TrafficWorld.route, policy: policy)
    }

    /// Has the checker see what the route tells of its upstreams.
    ///
    /// `isSettled` tells that nobody is between its leave and the transport.
    func look(isSettled: Bool = false) {
        guard let standing else { return }
        if isSettled { checker.budget.check(standing.retries, checker) }
        for (place, upstream) in standing.upstreams.enumerated() {
            checker.look(place, width: upstream.window ?? .max, underWay: isSettled ? upstream.underWay : nil)
        }
    }

    /// A look at everything, once a second.
    func audit() {
        guard !isOver else { return }
        spawn { here in await here.audit() }
        if let entry, entry.state.load.pending > 0 {
            let most = min(entry.route.policy.concurrency.maxRequests, max(1, entry.memory.traffic.width))
            if entry.state.load.inFlight < most {
                checker.fail(nil, "somebody waits for a permit that is free")
            }
        }
        call(after: 1_000_000_000) { $0.audit() }
    }

    /// Within what time everything must be over once all is well.
    private var bound: Int64 {
        let terms = checker.present
        let kept = Int64(checker.jobs.count(where: \.isKept))
        let each = 2 * (terms.rate?.interval ?? 0) + 250_000_000
        return 200_000_000_000 + kept * each
    }

    fileprivate func checkEnd() {
        guard let healedAt, let entry else { return }
        let waiting = checker.jobs.filter { !$0.isOver }
        if let job = waiting.first, timeline.now > healedAt + bound { checker.fail(job, "waits for ever") }
        guard waiting.isEmpty, expected == 0, timeline.now > healedAt else { return }
        if let standing {
            checker.quiet(standing, inFlight: entry.state.load.inFlight, pending: entry.state.load.pending)
        }
        isOver = true
        jobs?.drain()
        call(after: 10_000_000_000) { $0.jobs?.abort() }
    }
}

extension Confined where Value == TrafficWorld {
    fileprivate func audit() async {
        guard let jobs = value.jobs, let memory = value.memory else { return }
        guard let all = try? await memory.all() else {
            return value.checker.fail(nil, "the store cannot be read")
        }
        value.checker.audit(all, wall: value.wall) { jobs.blocker(of: $0) }
        value.checkEnd()
    }
}
