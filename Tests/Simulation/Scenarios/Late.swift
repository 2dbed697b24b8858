import RelayRoute

// Few answers that take long, and second sendings of the requests that are late.
extension Scenario {
    static let late = [tail, lateStall]

    private static let arrivals = 100.0

    /// One answer in 50 takes a second, by chance; the others 10 to 50 ms.
    private static func upstream(_ world: ScenarioWorld, stall: Range<Double>? = nil) -> ScenarioUpstream {
        ScenarioUpstream { [unowned world] visit in
            if stall?.contains(visit.at) ?? false { return .answer(200, after: .infinity) }
            let chance = Int.random(in: 0..<50, using: &world.draw)
            return .answer(200, after: chance == 0 ? 1 : 0.01 + Double(chance) / 1_250)
        }
    }

    private static let tail = Scenario(
        name: "late-tail",
        title: "One answer in 50 takes 1 s, and a request that is late is sent a second time",
        control: "second sendings"
    ) { world in
        let upstream = upstream(world)
        world.route("up", to: upstream) { $0.hedging = world.isControl ? nil : Hedging() }
        world.start()
        world.request("up", perSecond: arrivals, until: 60)
        world.run(until: 65)
        // From when enough answers are known.
        let calls = world.calls.filter { $0.at >= 2 }
        return [
            Figure("p99, ms", Scenario.p99(calls), atMost: 200, control: 900),
            Figure("attempts per arrival", upstream.seen(2).count, per: calls.count, atMost: 1.05),
            Figure("failures", world.calls.count { !$0.isGood }, atMost: 0),
        ]
    }

    private static let lateStall = Scenario(
        name: "late-stall",
        title: "An upstream stalls for 30 s that is sent late requests a second time, and has no breaker",
        control: "budget"
    ) { world in
        let stall = 15.0..<45
        let upstream = upstream(world, stall: stall)
        world.route("up", to: upstream, off: [.budget]) {
            $0.hedging = Hedging()
            ($0.traffic.breaker.isEnabled, $0.traffic.window.isEnabled) = (false, false)
            $0.timesOut(after: 1)
        }
        world.start()
        world.request("up", perSecond: arrivals, until: stall.upperBound)
        world.run(until: 50)
        let calls = world.calls.count { stall.contains($0.at) }
        let seen = upstream.seen(stall.lowerBound, stall.upperBound).count
        return [Figure("attempts per arrival", seen, per: calls, atMost: 1.1, control: 1.8)]
    }
}
