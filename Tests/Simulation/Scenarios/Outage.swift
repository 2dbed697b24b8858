import RelayBase
import RelayRoute

extension Scenario {
    static let outage = Scenario(
        name: "outage",
        title:
            "100 requests a second, three retries in the rules, and an upstream that answers 503 for a minute",
        control: "breaker, budget and window"
    ) { world in
        let (begin, end, last) = (15.0, 75.0, 100.0)
        let upstream = ScenarioUpstream { visit in
            .answer(visit.at >= begin && visit.at < end ? 503 : 200, after: 0.01)
        }
        world.route("up", to: upstream, off: [.breaker, .budget, .window]) {
            $0.retries(4)
        }
        world.start()
        world.request("up", perSecond: 100, until: last)
        world.run(until: last + 30)
        let met = world.calls.filter { $0.at >= begin && $0.at < end }
        let probes = upstream.seen(begin, end).filter(\.isProbe)
        let attempts = upstream.seen(begin, end).count
        let told = met.count { $0.failure == .breakerOpen }
        let back = world.isWell(0.95, from: end, until: last)
        return [
            Figure("attempts per arrival", attempts, per: met.count, atMost: 1.1, control: 3),
            Figure("attempts while the breaker is open", probes.count, atLeast: world.isControl ? 0 : 1),
            Figure("most of them at once", probes.map(\.beside).max() ?? 0, atMost: 1),
            // An outage is known as one: whoever waits for an answer is told at once, and not at the end of its time.
            Figure("share of the arrivals told breaker_open", told, per: met.count, atLeast: 0.5, control: 0),
            Figure("seconds from the outage's end to 95 % answered", back.map { $0 - end }, atMost: 20),
        ]
    }
}
