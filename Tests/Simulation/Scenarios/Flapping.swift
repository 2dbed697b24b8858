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
            guard Int(visit.at) % 2 == 0 else { return ScenarioUpstream.Reply(status: 503, after: 0.001) }
            return ScenarioUpstream.Reply(status: 200, after: workers.done(visit.at) - visit.at)
        }
        world.route("up", to: upstream, off: [.breaker, .budget, .window]) {
            $0.recovery = [again(100)]
            $0.maxAttempts = 100
        }
        world.start()
        world.keep("up", perSecond: 100, until: last)
        world.run(until: last - 0.5)
        let reason = world.explained()
        world.run(until: last)
        return [
            ScenarioFigure(
                "share of the arrivals that succeed in time",
                Double(world.ended(.succeeded)) / Double(world.kept),
                atLeast: 0.6
            ),
            ScenarioFigure(
                "attempts per arrival",
                Double(upstream.visits.count) / Double(world.kept),
                atMost: 1.2,
                control: 1.4
            ),
            ScenarioFigure("explain tells of the breaker", isSo: world.isControl || reason == "breaker_open"),
        ]
    }
}
