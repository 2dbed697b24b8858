import RelayBase
import RelayRoute

// A part of what an upstream is asked fails, and the rest does not; with the defaults of a route.
extension Scenario {
    /// Requests are told apart by their paths; in the control by nothing, since what they ask for stands in their queries.
    private static func target(_ name: String, _ world: ScenarioWorld) -> String {
        world.isControl ? "x?\(name)" : name
    }

    private static func isBad(_ visit: ScenarioUpstream.Visit) -> Bool { visit.target.hasSuffix("bad") }

    private static func served(_ calls: [ScenarioWorld.Call]) -> Double {
        let good = calls.filter { $0.ask.target.hasSuffix("good") }
        return Double(good.count(where: \.isGood)) / Double(max(1, good.count))
    }

    static let badPath = Scenario(
        name: "badpath",
        title: "300 kept jobs for a path that always fails, then two requests a second for another",
        control: "paths that tell requests apart"
    ) { world in
        let upstream = ScenarioUpstream { .answer(isBad($0) ? 502 : 200, after: 0.005) }
        world.route("up", to: upstream) {
            $0.retries(100)
        }
        world.start()
        let (bad, good) = (target("bad", world), target("good", world))
        world.keep("up", 300, ScenarioWorld.Ask(target: bad, method: .post))
        world.run(until: 20)
        world.request("up", perSecond: 2, until: 80) { _ in ScenarioWorld.Ask(target: good, method: .post) }
        world.run(until: 82)
        let attempts = upstream.seen(20, 80).count(where: isBad)
        return [
            Figure("share of the others served", served(world.calls), atLeast: 0.99, control: 0.9),
            Figure("p99 of the others in ms", p99(world.calls), atMost: 1_000),
            Figure("attempts at the path that fails, a second", attempts, per: 60, atMost: 5),
            Figure("explain tells of the breaker", isSo: world.explained() == "breaker_open"),
        ]
    }

    /// All of an upstream refuses for a while, and then does not.
    static let refusals: [Scenario] = [(429, "throttling"), (503, "breaker and window")].map {
        status,
        control in
        Scenario(
            name: "refusal-\(status)",
            title: "100 requests a second, and 20 s in which the upstream answers \(status) to each",
            control: control
        ) { world in
            let refused = 20.0..<40
            let upstream = ScenarioUpstream {
                .answer(refused.contains($0.at) ? UInt16(status) : 200, after: 0.005)
            }
            world.route("up", to: upstream, off: status == 429 ? [.throttling] : [.breaker, .window])
            world.start()
            world.request("up", perSecond: 100, until: 100)
            world.run(until: 131)
            let well = (7..<10).map { slice -> Double in
                let calls = world.calls.filter { Int($0.at / 10) == slice }
                return Double(calls.count(where: \.isGood)) / Double(calls.count)
            }
            let overloaded = world.calls.count { $0.failure == .overloaded }
            return [
                Figure("least share served in 10 s, from 30 s after it", well.min(), atLeast: 0.95),
                Figure(
                    "attempts per arrival while it refuses",
                    upstream.seen(22, 40).count,
                    per: 1_800,
                    atMost: 0.25,
                    control: 0.9
                ),
                Figure("told that the route is overloaded", overloaded, atMost: 0),
            ]
        }
    }
}
