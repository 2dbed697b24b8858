import RelayJobs
import RelayRoute

// A metastable trap: an upstream that stops for a while, and then serves first what it has.
extension Scenario {
    static let stalls = [false, true].flatMap { isKept in
        [10.0, 60].flatMap { seconds in [50, 70, 85].map { stall(seconds, load: $0, isKept: isKept) } }
    }

    private static let (rate, calm) = (200.0, 15.0)

    private static func stall(_ seconds: Double, load: Int, isKept: Bool) -> Scenario {
        Scenario(
            name: "stall-\(Int(seconds))-\(load)-\(isKept ? "kept" : "sync")",
            title: "An upstream of 200 requests a second stops for \(Int(seconds)) s at \(load) % of that, "
                + (isKept ? "kept jobs" : "requests"),
            control: "breaker, budget and window",
            // When a probe meets the end of a short stall is a large part of how long all of it takes.
            plays: isKept && seconds < 60 ? 5 : 1
        ) { world in
            let stall = calm..<calm + seconds
            // Ten at once, for 50 ms each.
            let upstream = ScenarioUpstream(ScenarioUpstream.Workers(10, seconds: 0.05, stall: stall))
            world.route("up", to: upstream, off: [.breaker, .budget, .window]) {
                $0.timeouts.attempt = .seconds(1)
                $0.timeouts.total = .seconds(10)
                $0.retries(isKept ? 100 : 4)
            }
            world.start()
            let arrivals = rate * Double(load) / 100
            return isKept
                ? kept(world, upstream, arrivals, until: stall.upperBound)
                : answered(world, upstream, arrivals, until: stall.upperBound)
        }
    }

    private static func attemptsPerSuccess(
        _ upstream: ScenarioUpstream,
        _ begin: Double,
        _ end: Double
    ) -> Figure {
        let good = upstream.served(begin, end)
        let attempts = good > 0 ? Double(upstream.seen(begin, end).count) / Double(good) : nil
        return Figure("attempts per success since the stall's end", attempts, atMost: 1.1, control: 1.3)
    }

    private static func answered(
        _ world: ScenarioWorld,
        _ upstream: ScenarioUpstream,
        _ arrivals: Double,
        until end: Double
    ) -> [Figure] {
        let last = end + 40
        world.request("up", perSecond: arrivals, until: last)
        world.run(until: last + 10)
        return [
            Figure(
                "seconds from the stall's end to 95 % goodput",
                world.isWell(0.95, from: end, until: last).map { $0 - end },
                atMost: 30,
                control: 30
            ),
            attemptsPerSuccess(upstream, end, last),
        ]
    }

    private static func kept(
        _ world: ScenarioWorld,
        _ upstream: ScenarioUpstream,
        _ arrivals: Double,
        until end: Double
    ) -> [Figure] {
        world.keep("up", perSecond: arrivals, until: 3_600)
        world.run(until: end - 1)
        let reason = world.explained()
        world.run(until: end)
        let backlog = Double(world.unfinished)
        let ideal = backlog / (rate - arrivals)
        // The arrivals of a fifth of a second are under way in calm times too. Within a minute a control shows that it
        // does not come back.
        _ = world.run(until: end + (world.isControl ? min(60, 2 * ideal) : 2 * ideal)) {
            Double(world.unfinished) <= arrivals / 5
        }
        let drained = world.now
        let share = 1 - max(0, Double(world.unfinished) - arrivals / 5) / backlog
        return [
            Figure(
                "time to drain the backlog ÷ ideal",
                // Where it is not over it goes on as it did.
                share > 0 ? (drained - end) / share / ideal : nil,
                atMost: 1.25,
                control: 2
            ),
            attemptsPerSuccess(upstream, end, drained - 1),
            Figure("jobs given up", world.kept - world.unfinished - world.ended(.succeeded), atMost: 0),
            Figure("explain tells of the breaker", isSo: reason == "breaker_open"),
        ]
    }
}
