import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

extension Scenario {
    static let tokens = Scenario(
        name: "tokens",
        title:
            "10,000 kept jobs meet a 401 at concurrency 256, then with a token endpoint that is away for half a minute",
        control: "the memory of a failed refresh, once a second"
    ) { world in
        let (count, away) = (10_000, 30.0)
        let bank = Bank()
        let upstream = ScenarioUpstream { visit in
            let isGood = visit.request?.addedFields[.authorization] == "Bearer t\(bank.wanted)"
            return .answer(isGood ? 200 : 401, after: 0.02)
        }
        world.route("up", to: upstream) {
            $0.authentication = Authentication(form: .bearer, credential: "bank")
            // As the configuration has it for every route with a token that can be had anew.
            let refresh = RecoveryRule.Action.refreshCredentials(maxTimes: 1)
            $0.recovery = [
                RecoveryRule(name: "stale-token", on: FailureMatcher([.status(401)]), action: refresh)
            ]
            $0.deliversLater = true
            $0.concurrency.maxRequests = 256
        }
        let endpoint = ScenarioUpstream(bank.answer)
        let origin = world.aside(endpoint)
        func vault() -> CredentialVault {
            var settings = OAuth2Settings(
                grant: .clientCredentials,
                endpoint: Upstream(name: "bank", origin: origin),
                target: "/token",
                clientID: "shop"
            )
            settings.clientSecret = .file("secret")
            return CredentialVault(
                [CredentialDefinition(name: "bank", kind: .oauth2(settings))],
                secrets: [.file("secret"): Secret("s3cret")]
            )
        }
        world.start(vault: vault())
        world.request("up")
        world.run(until: 1)
        bank.wanted = 2
        world.keep("up", count)
        _ = world.run(until: 100) { world.now > 2 && world.unfinished == 0 }
        let refreshes = endpoint.seen(1).count
        (bank.wanted, bank.isAway) = (3, true)
        let began = world.now
        world.keep("up", count)
        if world.isControl {
            for second in 1..<Int(away) { world.plan(at: began + Double(second)) { world.install(vault()) } }
        }
        world.run(until: began + away / 2)
        let reason = world.explained()
        world.run(until: began + away)
        let inVain = endpoint.seen(began).count
        bank.isAway = false
        _ = world.run(until: began + 200) { world.unfinished == 0 }
        let refused = upstream.seen(1, began).count { $0.status == 401 }
        return [
            Figure("jobs that meet the first 401", refused, atLeast: 64),
            Figure("token requests for all of them", refreshes, atMost: 1),
            Figure("token requests while the endpoint is away", inVain, atMost: 10, control: 20),
            Figure("jobs that did not succeed", 2 * count - world.ended(.succeeded), atMost: 0),
            Figure("explain tells of the credential", isSo: world.isControl || reason == "credentials"),
        ]
    }

    /// Takes one token, and issues the next when it is asked, unless it is away.
    private final class Bank {
        var wanted = 1
        var isAway = false
        private var issued = 0

        func answer(_ visit: ScenarioUpstream.Visit) -> Reply {
            if isAway { return .answer(503, after: 0.02) }
            issued += 1
            let token = #"{"access_token":"t\#(issued)","token_type":"Bearer","expires_in":3600}"#
            return Reply(status: 200, after: 0.05, body: token)
        }
    }
}
