import RelayBase
import RelayRoute

extension Scenario {
    /// Half of what the upstream takes is the other's while its jobs last.
    ///
    /// A 429 speaks of a rate, and this upstream has none: the pace that is learnt is below what it takes for a while.
    static let backlogs: [Scenario] = [(429, 2.5), (503, 1.5)].map { status, most in
        Scenario(
            name: "backlog-\(status)",
            title:
                "4,000 kept jobs of one user for an upstream that takes fifty at once and answers \(status) to "
                + "those above, then fifty jobs of another user",
            control: "users and paths to tell jobs apart by"
        ) { world in
            let (count, few, width, seconds) = (4_000, 50, 50, 0.25)
            let upstream = ScenarioUpstream(ceiling: width, seconds: seconds, status: UInt16(status))
            // As the configuration has it for every route.
            world.route("up", to: upstream) { $0.deliversLater = true }
            world.start()
            world.keep("up", count, ScenarioWorld.Ask(target: "backlog", method: .put, user: 1))
            world.run(until: 8)
            let path = world.isControl ? "backlog?few" : "few"
            let user: UInt32 = world.isControl ? 1 : 2
            world.keep("up", few, ScenarioWorld.Ask(target: path, method: .put, user: user))
            let ideal = Double(count / width) * seconds
            _ = world.run(until: 2 * ideal + 30) { world.now > 9 && world.unfinished == 0 }
            func done(_ path: String) -> [Double] {
                upstream.visits.filter { $0.target == "/" + path && $0.status == 200 }.compactMap(\.ended)
                    .sorted()
            }
            let (others, all) = (done(path).prefix(few * 9 / 10), done("backlog"))
            var refusals: [String: Int] = [:]
            for visit in upstream.visits where visit.status == UInt16(status) {
                refusals[visit.idempotencyKey ?? "", default: 0] += 1
            }
            return [
                Figure(
                    "time until nine of ten of the other's are done ÷ what its half takes",
                    others.last.map { ($0 - 8) / (Double(2 * few / width) * seconds) },
                    atMost: 4,
                    control: 8
                ),
                Figure(
                    "time until the backlog is done ÷ ideal",
                    all.count == count ? all.last.map { $0 / ideal } : nil,
                    atMost: most
                ),
                Figure(
                    "share refused twice and more",
                    refusals.values.count { $0 > 1 },
                    per: count,
                    atMost: 0.01
                ),
            ]
        }
    }

    static let turns = Scenario(
        name: "turns",
        title:
            "1,600 urgent kept jobs of one user on a route of 40 a second, then one of another, and one less urgent",
        control: "users and urgencies to tell jobs apart by"
    ) { world in
        let upstream = ScenarioUpstream { _ in .answer(200, after: 0.002) }
        world.route("up", to: upstream) {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 40, per: .seconds(1))
        }
        world.start()
        world.keep("up", 1_600, ScenarioWorld.Ask(target: "flood", method: .put, user: 1, urgency: 0))
        world.run(until: 1)
        for (target, user) in [("other", 2), ("own", 1)] as [(String, UInt32)] {
            let ask =
                world.isControl
                ? ScenarioWorld.Ask(target: target, method: .put, user: 1, urgency: 0)
                : ScenarioWorld.Ask(target: target, method: .put, user: user)
            world.keep("up", 1, ask)
        }
        world.run(until: 45)
        func waited(_ target: String) -> Double? {
            upstream.visits.first { $0.target == "/" + target }.map { $0.at - 1 }
        }
        return [
            Figure("seconds until another user's job is sent", waited("other"), atMost: 1, control: 5),
            Figure("seconds until a less urgent one of the same user is", waited("own"), atMost: 30),
        ]
    }
}
