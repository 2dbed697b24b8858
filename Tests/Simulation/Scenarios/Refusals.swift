import RelayBase
import RelayRoute

extension Scenario {
    /// An upstream that answers nothing but 429, or 503, or hangs, for twenty seconds, and is then well at once.
    static let refused = ([429, 503, nil] as [UInt16?]).map { status in
        Scenario(
            name: "refusals-\(status.map { "\($0)" } ?? "hanging")",
            title: "100 requests a second, and 20 s in which the upstream "
                + (status.map { "answers \($0) to each" } ?? "answers nothing"),
            control: "an upstream that asks for less than a minute, and a breaker that is open for less"
        ) { world in
            let trouble = 5.0..<25
            let last = trouble.upperBound + 40
            let isControl = world.isControl
            let upstream = ScenarioUpstream { visit in
                guard trouble.contains(visit.at) else { return .answer(200, after: 0.01) }
                var reply = Reply.answer(status ?? 200, after: status == nil ? .infinity : 0.01)
                if isControl, status == 429 { reply.fields = [("Retry-After", "60")] }
                return reply
            }
            world.route("up", to: upstream) {
                guard isControl else { return }
                ($0.traffic.breaker.breakDuration, $0.traffic.breaker.maxBreakDuration) = (
                    .seconds(60), .seconds(60)
                )
            }
            world.route("well", to: ScenarioUpstream { _ in .answer(200, after: 0.01) })
            world.start()
            world.request("up", perSecond: 100, until: last) {
                // Of two kinds, as requests are.
                ScenarioWorld.Ask(target: $0 % 3 > 0 ? "one" : "two")
            }
            world.request("well", perSecond: 10, until: last) { _ in ScenarioWorld.Ask(target: "well") }
            world.run(until: last + 35)
            let (beside, calls) = (
                world.calls.filter { $0.ask.target == "well" }, world.calls.filter { $0.ask.target != "well" }
            )
            let back = world.isWell(0.95, from: trouble.upperBound, until: last) { $0.ask.target != "well" }
            return [
                Figure(
                    "seconds from its end to 95 % of the arrivals answered",
                    back.map { $0 - trouble.upperBound },
                    atMost: 30,
                    control: 30
                ),
                Figure(
                    "requests to a route that is well told overloaded",
                    beside.count { $0.failure == .overloaded },
                    atMost: 0
                ),
                Figure(
                    "requests to a route that is well not answered",
                    beside.count { !$0.isGood },
                    atMost: 0
                ),
                Figure("attempts per arrival", upstream.visits.count, per: calls.count, atMost: 1.1),
            ]
        }
    }

    /// Answers that ask for a year of patience, on one path, and with one named limit, while others of the route go on.
    static let year = Scenario(
        name: "year",
        title:
            "One path and one named limit ask for a year of patience, and 50 requests a second ask for another path",
        control: "limits with names, and the command that lifts them"
    ) { world in
        let year = "31536000"
        let isControl = world.isControl
        var told: Set<String> = []
        let upstream = ScenarioUpstream { visit in
            guard visit.target != "/other", told.insert(visit.target).inserted else {
                return .answer(200, after: 0.01)
            }
            if visit.target == "/once" || isControl {
                return Reply(status: 503, after: 0.01, fields: [("Retry-After", year)])
            }
            let limit = [("Limit", "10"), ("Remaining", "0"), ("Reset", year), ("Resource", "search")]
            return Reply(
                status: 200,
                after: 0.01,
                fields: limit.map { (name: "X-RateLimit-" + $0.0, value: $0.1) }
            )
        }
        world.route("up", to: upstream) { $0.traffic.throttling.longest = .seconds(31_536_000) }
        world.start()
        let asked = ["once", "find"].map { ScenarioWorld.Ask(target: $0) }
        for ask in asked { world.request("up", ask) }
        world.run(until: 1)
        world.request("up", perSecond: 50, until: 21) { _ in ScenarioWorld.Ask(target: "other") }
        world.request("up", perSecond: 10, until: 21) { asked[$0 % 2] }
        world.run(until: 21)
        let shown = world.holds(lifting: !isControl)
        let others = world.calls.filter { $0.ask.target == "other" }
        let inVain = upstream.seen(1).count { $0.target != "/other" }
        for ask in asked { world.request("up", ask) }
        world.run(until: 22)
        let answers = world.calls.suffix(2)
        return [
            Figure(
                "requests to other paths answered",
                others.count(where: \.isGood),
                per: others.count,
                atLeast: 1,
                control: 0.1
            ),
            Figure("their p99 in ms", p99(others), atMost: 20),
            Figure("attempts on the paths that were told so", inVain, atMost: 0),
            Figure(
                "limits name what waits",
                isSo: shown.contains("GET /once") && shown.contains("the limit search")
            ),
            Figure(
                "seconds from the command to an answer",
                answers.allSatisfy(\.isGood) ? answers.map(\.seconds).max() : nil,
                atMost: 0.1,
                control: 1
            ),
        ]
    }
}
