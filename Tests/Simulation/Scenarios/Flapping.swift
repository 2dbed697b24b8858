import RelayJobs
import RelayRoute

extension Scenario {
    static let flapping = Scenario(
        name: "flapping",
        title:
            "An upstream that is there for a second (200 requests a second) and away for one, 100 kept jobs a second",
        control: "breaker, budget and window"
    ) { world in
        let last = 120.0
        var workers = ScenarioUpstream.Workers(1, seconds: 1 / 200)
        let upstream = ScenarioUpstream { visit in
            guard Int(visit.at) % 2 == 0 else { return .answer(503, after: 0.001) }
            return .answer(200, after: workers.done(visit.at) - visit.at)
        }
        world.route("up", to: upstream, off: [.breaker, .budget, .window]) {
            $0.retries(100)
        }
        world.start()
        world.keep("up", perSecond: 100, until: last)
        world.run(until: last - 0.5)
        let reason = world.explained()
        world.run(until: last)
        return [
            Figure(
                "share of the arrivals that succeed in time",
                world.ended(.succeeded),
                per: world.kept,
                atLeast: 0.6
            ),
            Figure("attempts per arrival", upstream.visits.count, per: world.kept, atMost: 1.2, control: 1.4),
            Figure("explain tells of the breaker", isSo: world.isControl || reason == "breaker_open"),
        ]
    }
}
