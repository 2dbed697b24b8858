import RelayBase
import RelayRoute

extension Scenario {
    static let blackHole = Scenario(
        name: "blackhole",
        title: "10,000 kept jobs for an upstream that answers nothing, beside a route that is well",
        control: "queues of their own, breaker and window"
    ) { world in
        let (calm, trouble) = (20.0, 60.0)
        let serve = { (visit: ScenarioUpstream.Visit) -> Reply in
            .answer(200, after: visit.target.hasSuffix("hole") ? .infinity : 0.005)
        }
        let (hole, well) = (ScenarioUpstream(serve), ScenarioUpstream(serve))
        let change = { (policy: inout RoutePolicy) in
            policy.timesOut(after: 5)
            policy.retries(100)
        }
        world.route("up", to: hole, off: [.breaker, .window], change)
        world.route("well", to: well, change)
        world.start()
        // The control sends both through one route, which is one queue.
        let (route, upstream) = world.isControl ? ("up", hole) : ("well", well)
        world.request(route, perSecond: 100, until: calm + trouble)
        world.keep(route, perSecond: 100, until: calm + trouble)
        world.run(until: calm)
        world.keep("up", 10_000, ScenarioWorld.Ask(target: "hole", method: .post))
        world.run(until: calm + trouble / 2)
        let reason = world.explained()
        world.run(until: calm + trouble)
        let before = percentile(world.calls.filter { $0.isGood && $0.ended < calm }.map(\.seconds))
        let beside = percentile(world.calls.filter { $0.isGood && $0.at >= calm }.map(\.seconds))
        let rates = (
            Double(upstream.served(0, calm)) / calm,
            Double(upstream.served(calm, calm + trouble)) / trouble
        )
        return [
            Figure("throughput of the other route ÷ before", rates.1 / rates.0, atLeast: 0.95, control: 0.75),
            Figure("its p99 ÷ before", beside.flatMap { now in before.map { now / $0 } }, atMost: 2),
            Figure("explain tells of the breaker", isSo: world.isControl || reason == "breaker_open"),
        ]
    }
}
