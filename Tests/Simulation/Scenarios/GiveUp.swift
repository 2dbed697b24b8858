import RelayBase
import RelayRoute

extension Scenario {
    static let givenUp = [true, false].map { isLimited in
        Scenario(
            name: "giveup-\(isLimited ? "limit" : "hanging-up")",
            title: "20 requests a second for an upstream that answers nothing, whose callers "
                + (isLimited ? "allow 5 s" : "hang up after 3 s"),
            control: "callers that wait for long enough: they give up within a second"
        ) { world in
            let patience = world.isControl ? 0.8 : isLimited ? 5 : 3
            // A breaker needs some attempts that have ended.
            let settled = patience + 2.5
            let last = settled + 30
            let upstream = ScenarioUpstream { _ in .answer(200, after: .infinity) }
            world.route("up", to: upstream)
            world.start()
            world.request("up", perSecond: 20, until: last) { _ in
                isLimited
                    ? ScenarioWorld.Ask(limit: .seconds(patience)) : ScenarioWorld.Ask(patience: patience)
            }
            world.run(until: last + 10)
            let late = world.calls.filter { $0.at >= settled }
            let told = late.count { $0.failure == .breakerOpen }
            return [
                Figure(
                    "attempts per arrival, once the first have given up",
                    upstream.seen(settled).count,
                    per: late.count,
                    atMost: 0.2,
                    control: 0.7
                ),
                Figure(
                    "share of the later ones told breaker_open",
                    told,
                    per: late.count,
                    atLeast: 0.8,
                    control: 0
                ),
            ]
        }
    }
}
