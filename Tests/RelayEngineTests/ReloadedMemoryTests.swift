import RelayBase
import RelayCore
import RelayEngine
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The part of a route's memory that a reload keeps", .timeLimit(.minutes(5)))
struct ReloadedMemoryTests {
    private static func policy(_ policy: inout RoutePolicy) {
        policy.response.keepsLastGood = LastGoodRule(maxAge: .seconds(600))
        policy.recovery = [
            RecoveryRule(name: "f", on: FailureMatcher([.any]), action: .failover(upstream: 1)),
            RecoveryRule(name: "s", on: FailureMatcher([.any]), action: .respondStale),
        ]
    }

    enum Change: String, CaseIterable {
        case none, rules, attempts, timeouts
        case upstream, cooldown, keepsLonger, unwraps, authentication, another

        var keeps: Bool {
            switch self {
            case .none, .rules, .attempts, .timeouts: true
            default: false
            }
        }

        func apply(_ policy: inout RoutePolicy) {
            switch self {
            case .none, .another: break
            case .rules: policy.recovery.removeFirst()
            case .attempts: policy.maxAttempts = 3
            case .timeouts: policy.timeouts.total = .seconds(5)
            case .upstream: policy.upstreams[0] = Upstream(name: "one", origin: .unix(path: "/other"))
            case .cooldown:
                policy.upstreams[1] = Upstream(
                    name: "two",
                    origin: .unix(path: "/two"),
                    use: .failoverOnly,
                    cooldown: .seconds(1)
                )
            case .keepsLonger: policy.response.keepsLastGood = LastGoodRule(maxAge: .seconds(601))
            case .unwraps: policy.response.unwrap = try? JSONPointer(parsing: "/data")
            case .authentication:
                policy.authentication = Authentication(form: .bearer, credential: "c")
            }
        }
    }

    @Test(
        "Answers and cool-downs stay while the route would answer alike, and go when it may not",
        arguments: Change.allCases
    )
    func reload(change: Change) async throws {
        let isDown = Flag()
        let bench = EngineBench(Self.policy) { request in
            request.target == "/good" && !isDown.isSet ? .answer(200, [], "good") : .answer(500)
        }
        _ = try await bench.run("good")
        _ = try await bench.run("bad")
        if change == .another {
            // The route was gone for one configuration, and nothing of it was under way.
            bench.engine.install(
                Snapshot(
                    routes: [],
                    vault: CredentialVault([], secrets: [:]),
                    settings: Snapshot.Settings(),
                    previous: bench.engine.snapshot
                )
            )
        }
        bench.engine.install(
            EngineBench.snapshot(previous: bench.engine.snapshot) {
                Self.policy(&$0)
                change.apply(&$0)
            }
        )
        let entry = try #require(bench.engine.snapshot.routes["up"])
        #expect(entry.memory.cooling(entry.route, now: bench.time.now()) == (change.keeps ? [1] : []))
        #expect((entry.state.figures.requests == 2) == (change != .another))
        isDown.set()
        let outcome = try await bench.run("good")
        #expect((outcome.report.source == .stale) == change.keeps)
    }
}
