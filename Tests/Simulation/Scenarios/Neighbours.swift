import RelayRoute

// Callers on a route that takes eight at once, for 20 ms each: less than they would like to have. Connections and bytes that
// drip are the server's, and in `Tests/Scenarios`.
extension Scenario {
    private static func fill(_ world: ScenarioWorld) {
        world.route("up", to: ScenarioUpstream { _ in .answer(200, after: 0.02) }) {
            $0.concurrency.maxRequests = 8
            $0.concurrency.maxPendingRequests = 4_096
            $0.timeouts.attempt = .seconds(30)
            $0.timeouts.total = .seconds(60)
        }
        world.start(callersHaveTurns: !world.isControl)
    }

    static let neighbours = Scenario(
        name: "neighbours",
        title: "One caller floods a full route, one hogs it, and one sends a request now and then",
        control: "turns for each caller"
    ) { world in
        fill(world)
        let (flood, hog, good, last) = (1 as UInt32, 2 as UInt32, 3 as UInt32, 20.0)
        world.crowd(500, of: flood, "up", until: last)
        world.crowd(100, of: hog, "up", until: last)
        world.crowd(1, of: good, "up", pause: 0.01, until: last)
        world.run(until: last + 5)
        let its = world.calls.filter { $0.ask.user == good && $0.isGood }
        // One at a time, each of 20 ms and a pause of 10.
        let share = Double(its.count) / (last / 0.03)
        return [
            Figure("p99 of the good caller in ms", p99(its), atMost: 50, control: 500),
            Figure("its answers ÷ those that it might have", share, atLeast: 0.5, control: 0.1),
        ]
    }

    /// With 12 to 200 requests at once each.
    static let shares = [2, 5, 20].map { callers in
        Scenario(
            name: "shares-\(callers)",
            title: "\(callers) callers on a full route, of which each wants more than the one before it",
            control: "turns for each caller"
        ) { world in
            fill(world)
            let last = 20.0
            for user in 0..<callers {
                world.crowd(12 + 188 * user / (callers - 1), of: UInt32(user), "up", until: last)
            }
            world.run(until: last)
            var answered = Array(repeating: 0.0, count: callers)
            for call in world.calls where call.isGood { answered[Int(call.ask.user)] += 1 }
            let equal = answered.reduce(0, +) / Double(callers)
            return [
                Figure("answers of all in a second", equal * Double(callers) / last, atLeast: 390),
                Figure(
                    "furthest from an equal share in %",
                    answered.map { ($0 - equal).magnitude / equal * 100 }.max(),
                    atMost: 10,
                    control: 30
                ),
            ]
        }
    }
}
