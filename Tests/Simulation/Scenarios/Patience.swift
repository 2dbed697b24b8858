import RelayBase
import RelayJobs
import RelayRoute

extension Scenario {
    static let patience = Scenario(
        name: "patience",
        title: "One answer of many says Retry-After: 20, while 500 kept jobs wait",
        control: "throttling"
    ) { world in
        let (count, width, hold) = (600, 16, 20.0)
        var (came, asked) = (0, Double.infinity)
        let upstream = ScenarioUpstream { visit in
            came += 1
            guard came == 100 else { return .answer(200, after: 0.1) }
            asked = visit.at + 0.05
            return Reply(status: 429, after: 0.05, fields: [("Retry-After", "\(Int(hold))")])
        }
        world.route("up", to: upstream, off: [.throttling]) {
            $0.timesOut(after: 2)
            $0.concurrency.maxRequests = width
            $0.retries(100)
        }
        world.start()
        world.keep("up", count)
        _ = world.run(until: 30) { asked < world.now }
        let waiting = world.unfinished
        world.run(until: asked + hold / 3)
        // The hold is on the kind that was told so: its method and path.
        world.request("up", ScenarioWorld.Ask(method: .post))
        world.run(until: asked + hold / 2)
        let reason = world.explained()
        _ = world.run(until: asked + 60) { world.unfinished == 0 }
        let first = upstream.seen(asked + hold).first?.at
        return [
            Figure("jobs that wait then", waiting, atLeast: 500),
            // Those of the instant at which it is told may be a rounding before it.
            Figure(
                "attempts begun in spite of it",
                upstream.seen(asked + 1e-6, asked + hold - 0.001).count,
                atMost: 0,
                control: 50
            ),
            Figure("seconds to the first after it", first.map { $0 - asked - hold }, atMost: 1),
            Figure(
                "requests with less time told rate_limited at once",
                isSo: world.isControl
                    || world.calls.last.map { $0.failure == .rateLimited && $0.seconds < 0.1 } == true
            ),
            Figure("jobs that did not succeed", count - world.ended(.succeeded), atMost: 0),
            Figure("explain tells of it", isSo: world.isControl || reason == "throttled"),
        ]
    }
}
