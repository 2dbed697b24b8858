import RelayBase
import RelayCore
import RelayRoute

/// The decision after an attempt: a 503 is judged, the rule that is meant for it found among others, its wait chosen.
///
/// The route's rules are those of README.md; only their bounds are out of reach, so that every decision is alike.
struct Decision {
    private let judge: ResponseJudge
    private var machine: RecoveryMachine
    private let answer: InboundResponse
    private var random: UInt64 = 1

    init() {
        var policy = RoutePolicy(upstreams: [
            Upstream(name: "eu", origin: .tcp(host: "eu.billing.example", port: 443, isTLS: true)),
            Upstream(name: "us", origin: .tcp(host: "us.billing.example", port: 443, isTLS: true)),
        ])
        var retry = RetryPolicy()
        retry.maxAttempts = .max
        policy.maxAttempts = .max
        policy.timeouts.total = .seconds(1_000_000)
        policy.recovery = [
            Decision.rule("stale-token", ["401"], .refreshCredentials(maxTimes: 1)),
            Decision.rule("overload", ["429", "503"], .retry(retry)),
            Decision.rule(
                "other-region",
                ["connection", "timeout", "exhausted"],
                .failover(upstream: 1, methods: .idempotentOrKeyed)
            ),
        ]
        let route = Route(name: "billing", policy: policy)
        judge = ResponseJudge(route: route, method: .get)
        let start = Instant(nanoseconds: 0)
        machine = RecoveryMachine(route: route, method: .get, options: JobOptions(), now: start)
        _ = machine.attemptBegan(at: start, wall: 0)
        var fields = HeaderFields()
        fields.append("Content-Type", "text/plain")
        fields.append("Content-Length", "0")
        let response = HTTPResponse(status: 503, fields: fields)
        answer = InboundResponse(response: response, exchange: Exchange(address: "192.0.2.1:443"))
    }

    private static func rule(_ name: String, _ on: [String], _ action: RecoveryRule.Action) -> RecoveryRule {
        RecoveryRule(name: name, on: FailureMatcher(on.compactMap(FailureMatcher.token)), action: action)
    }

    /// Decides once.
    ///
    /// - Returns: what depends on the decision, so that none of it can be left out.
    mutating func callAsFunction() -> Int {
        guard case .refused(let failure) = judge.judge(answer, wallSeconds: 0) else { return 0 }
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let situation = RecoveryMachine.Situation(now: Instant(nanoseconds: 1_000), random: random)
        guard case .retry(let at) = machine.attemptFailed(failure, situation) else { return 0 }
        return Int(truncatingIfNeeded: at.nanoseconds)
    }
}
