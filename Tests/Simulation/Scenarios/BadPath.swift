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
        let good = calls.filter { $0.target.hasSuffix("good") }
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
        world.requestMethod = .post
        world.keep("up", 300, target: target("bad", world))
        world.run(until: 20)
        world.request("up", perSecond: 2, target: target("good", world), until: 80)
        world.run(until: 82)
        let attempts = upstream.seen(20, 80).count(where: isBad)
        return [
            Figure("share of the others served", served(world.calls), atLeast: 0.99, control: 0.9),
            Figure("p99 of the others in ms", p99(world.calls), atMost: 1_000),
            Figure("attempts at the path that fails, a second", attempts, per: 60, atMost: 5),
            Figure("explain tells of the breaker", isSo: world.explained() == "breaker_open"),
        ]
    }

    /// A hundred requests a second for a minute, of which so many are for the path that is bad.
    private static func request(_ bad: Int, _ world: ScenarioWorld) {
        world.start()
        world.request("up", perSecond: Double(bad), target: target("bad", world), until: 60)
        world.request("up", perSecond: Double(100 - bad), target: target("good", world), until: 60)
    }

    static let mixtures = [45, 60, 80].map { share in
        Scenario(
            name: "failing-\(share)",
            title: "100 requests a second, of which \(share) % are for a path that fails",
            control: "a breaker that needs nearly all to fail, and paths that tell requests apart"
        ) { world in
            let upstream = ScenarioUpstream { .answer(isBad($0) ? 502 : 200, after: 0.005) }
            world.route("up", to: upstream) {
                guard world.isControl else { return }
                ($0.traffic.breaker.failureRatio, $0.traffic.breaker.consecutiveFailures) = (0.4, 5)
            }
            request(share, world)
            world.run(until: 75)
            return [
                Figure("share of the others served", served(world.calls), atLeast: 0.99, control: 0.5),
                Figure("p99 of the others in ms", p99(world.calls), atMost: 20),
                Figure("attempts per arrival", upstream.visits.count, per: world.calls.count, atMost: 1.1),
            ]
        }
    }

    static let hanging = [45, 60, 80].map { share in
        Scenario(
            name: "hanging-\(share)",
            title: "100 requests a second, of which \(share) % are for a path that answers nothing",
            control: "paths that tell requests apart"
        ) { world in
            world.route("up", to: ScenarioUpstream { .answer(200, after: isBad($0) ? .infinity : 0.005) })
            request(share, world)
            world.run(until: 95)
            let settled = world.calls.filter { $0.at >= 15 }
            let answered = served(settled)
            return [
                Figure("share of the others served, after 15 s", answered, atLeast: 0.95, control: 0.8),
                Figure("p99 of the others in ms, after 15 s", p99(settled), atMost: 20),
            ]
        }
    }

    static let scope = Scenario(
        name: "scope",
        title: "One path says Retry-After: an hour, and another is asked for ten times a second",
        control: "paths that tell requests apart"
    ) { world in
        let upstream = ScenarioUpstream {
            guard isBad($0) else { return .answer(200, after: 0.005) }
            return Reply(status: 429, after: 0.005, fields: [("Retry-After", "3600")])
        }
        world.route("up", to: upstream) {
            $0.retries(3, of: $0.maxAttempts)
            $0.traffic.throttling.longest = .seconds(3_600)
        }
        world.start()
        world.request("up", target: target("bad", world))
        world.run(until: 1)
        world.request("up", perSecond: 1, target: target("bad", world), until: 30)
        world.request("up", perSecond: 10, target: target("good", world), until: 30)
        world.run(until: 61)
        return [
            Figure("share of the others served", served(world.calls), atLeast: 1, control: 0.1),
            Figure("attempts in spite of it", upstream.seen(1).count(where: isBad), atMost: 0),
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
