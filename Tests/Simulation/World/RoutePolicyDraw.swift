import RelayBase
import RelayJSON
import RelayRoute
import RelayTestSupport

struct RoutePolicyDraw {
    var draw: SplitMix64
    /// Where strategies of a program's own find their jobs; nil for a route without any.
    var world: Confined<World>?

    mutating func fill(_ policy: inout RoutePolicy, numbersAttempts: Bool) {
        policy.maxAttempts = draw.number(1...8)
        policy.timeouts.connect = .milliseconds(draw.pick([50, 200, 500, 1_000]))
        policy.timeouts.attempt = .milliseconds(draw.pick([150, 500, 1_000, 3_000, 10_000]))
        policy.timeouts.idle = .milliseconds(draw.pick([80, 500, 3_000, 10_000]))
        policy.timeouts.minRate = draw.pick([1_024, 1_024, 5, 0])
        policy.timeouts.total = .milliseconds(draw.pick([500, 2_000, 10_000, 30_000, 60_000]))
        request(&policy, numbersAttempts)
        answers(&policy)
        if draw.chance(30) { policy.delivery.maxAttempts = draw.number(1...8) }
        if draw.chance(35) { policy.errorTypes = names() }
        if draw.chance(25) { policy.quickRecovery = quick() }
        policy.neverFails = draw.chance(20)
        policy.recovery = rules(policy)
    }

    private mutating func request(_ policy: inout RoutePolicy, _ numbersAttempts: Bool) {
        if numbersAttempts {
            policy.prepare.append(
                PreparationStep(phase: .attempt, fields: [("X-Attempt", FieldTemplate(parts: [.attempt]))])
            )
        }
        if draw.chance(10) { policy.request.wrap = pointer("/data") }
        policy.idempotency.generates = draw.chance(12)
        policy.idempotency.forwards = draw.chance(88)
        if draw.chance(10) { policy.idempotency.header = "X-Once" }
    }

    private mutating func answers(_ policy: inout RoutePolicy) {
        if draw.chance(40) {
            policy.apiError = APIErrorRule(
                require: [pointer("/error")],
                statuses: draw.pick([
                    .any, .success, StatusSet(codes: [429], classes: [.clientError, .serverError]),
                ]),
                code: draw.chance(80) ? pointer("/error/code") : nil,
                title: draw.chance(50) ? pointer("/error/title") : nil
            )
        }
        policy.success.statuses = draw.pick([
            .success, .success, .success, StatusSet(codes: [302, 404], classes: [.success]),
            StatusSet(codes: [200, 204]),
        ])
        if draw.chance(25) {
            policy.success.require = [BodyCheck(pointer: pointer("/ok"), condition: .exists(true))]
        }
        if draw.chance(25) {
            let check = BodyCheck(pointer: pointer("/state"), condition: .equals(.string("failed")))
            policy.success.fail = [
                BodyFailureCheck(
                    check: check,
                    kind: "soft_failure",
                    isRetryable: draw.pick([nil, true, false])
                )
            ]
        }
        if draw.chance(20) { policy.success.contentTypes = ["application/json"] }
        if draw.chance(20) { policy.response.unwrap = pointer("/data") }
        policy.response.expectsJSON = draw.chance(15)
        if draw.chance(15) { policy.response.empty = .error }
        if draw.chance(35) { policy.response.redirects = .follow }
        if draw.chance(40) {
            policy.response.keepsLastGood = LastGoodRule(
                maxAge: .milliseconds(draw.pick([1_000, 5_000, 60_000]))
            )
        }
        if draw.chance(70) { policy.success.inspectLimit = 500 }
    }

    private mutating func names() -> [ErrorTypeRule] {
        let all = [
            errorType(["429"], "throttled"), errorType(["404"], "gone", as: 503),
            errorType(nil, "app_error", as: 422, codes: ["E42"]),
            errorType(["api_error"], "never", codes: ["E7"]), errorType(["timeout"], "slow", as: 504),
            errorType(["http_response_incomplete"], "cut", as: 401),
            errorType(["invalid_response"], "bad"),
        ]
        return (0..<draw.number(1...3)).map { _ in draw.pick(all) }
    }

    private mutating func quick() -> [QuickRecoveryRule] {
        let all = [
            QuickRecoveryRule(on: matcher(["404"]), methods: [.delete, .get], status: 204),
            QuickRecoveryRule(on: matcher(["409", "api_error"]), status: 200, json: .object([])),
            QuickRecoveryRule(on: matcher(["dns", "tls"]), status: 203, fields: [("X-Quick", "yes")]),
            QuickRecoveryRule(
                on: matcher(["410", "http_protocol_error"]),
                status: 202,
                json: .object([JSONValue.Member("was", .object([JSONValue.Member("$status", .bool(true))]))])
            ),
        ]
        return (0..<draw.number(1...2)).map { _ in draw.pick(all) }
    }

    private mutating func methods() -> RepeatableMethods {
        draw.pick([.idempotent, .idempotentOrKeyed, .idempotentOrKeyed, .any])
    }

    private mutating func rules(_ policy: RoutePolicy) -> [RecoveryRule] {
        var rules: [RecoveryRule] = []
        func add(_ on: [String], _ action: RecoveryRule.Action) {
            rules.append(RecoveryRule(name: "r\(rules.count)", on: matcher(on), action: action))
        }
        if policy.authentication != nil, draw.chance(75) {
            let on = draw.pick([["401"], ["401", "403"], ["4xx"], ["401", "credentials_failed"]])
            add(on, .refreshCredentials(maxTimes: draw.number(1...2)))
        }
        let words = [
            ["5xx"], ["503"], ["429", "503"], ["connection"], ["timeout"],
            ["connection", "timeout", "protocol"], ["any"],
            ["any"], ["dns", "tls"], ["api_error"], ["throttled", "slow"], ["credentials_failed"], ["4xx"],
            ["invalid_response", "decoding"], ["soft_failure"], ["http_response_incomplete", "http_status"],
            ["bad"],
        ]
        func consult(_ world: Confined<World>) {
            let strategy = ProgramStrategy("r\(rules.count)", world)
            let methods = methods()
            add(draw.pick(words), .consult(strategy, methods: methods))
        }
        if let world { for _ in 0..<draw.number(0...2) { consult(world) } }
        for _ in 0..<draw.weighted([1, 3, 4, 2]) { add(draw.pick(words), .retry(retry())) }
        if policy.upstreams.count > 1 {
            for _ in 0..<draw.number(0...2) {
                let target = draw.below(policy.upstreams.count)
                let on = draw.pick([["connection"], ["timeout", "5xx"], ["exhausted"], ["any"]])
                add(on, .failover(upstream: target, methods: methods()))
            }
        }
        if policy.response.keepsLastGood != nil, draw.chance(80) {
            add(draw.pick([["exhausted"], ["5xx", "timeout"], ["any"], ["connection"]]), .respondStale)
        }
        if draw.chance(30) { add(draw.pick(words), .retry(retry())) }
        if let world, draw.chance(60) { consult(world) }
        if draw.chance(15) { add(draw.pick([["4xx"], ["api_error"], ["decoding"]]), .fail) }
        for _ in 0..<draw.weighted([4, 5, 1]) {
            let canned = CannedResponse(
                source: draw.pick([.placeholder, .fallback]),
                status: draw.pick([200, 203, 503]),
                fields: [("X-Canned", "yes")],
                body: draw.chance(50) ? [] : Array("{}".utf8)
            )
            let on = [["exhausted"], ["exhausted"], ["any"], ["5xx", "timeout"], ["credentials_failed"]]
            add(draw.pick(on), .respond(canned))
        }
        return rules
    }

    private mutating func retry() -> RetryPolicy {
        var policy = RetryPolicy()
        policy.maxAttempts = draw.number(1...5)
        policy.methods = methods()
        policy.honorsRetryAfter = draw.chance(80)
        policy.maxRetryAfter = .milliseconds(draw.pick([500, 2_000, 10_000, 60_000]))
        policy.backoff = Backoff(
            schedule: draw.pick([
                .exponential(base: .milliseconds(100), multiplier: 2, maximum: .seconds(2)),
                .exponential(base: .milliseconds(30), multiplier: 3.5, maximum: .milliseconds(400)),
                .exponential(base: .milliseconds(1), multiplier: 1_000, maximum: .seconds(5)),
                .constant(.milliseconds(100)), .constant(.seconds(1)), .constant(.zero),
                .list([.milliseconds(10), .milliseconds(200), .seconds(1)]), .list([]),
            ]),
            jitter: draw.pick([.none, .full, .full, .equal, .percent(10), .percent(100)])
        )
        return policy
    }
}

func matcher(_ words: [String]) -> FailureMatcher { FailureMatcher(words.compactMap(FailureMatcher.token)) }

func pointer(_ text: String) -> JSONPointer {
    JSONPointer(tokens: text.split(separator: "/").map(String.init))
}

func errorType(
    _ words: [String]?,
    _ kind: FailureKind,
    as status: Status? = nil,
    codes: [String] = []
) -> ErrorTypeRule {
    ErrorTypeRule(on: words.map(matcher), apiCodes: codes, kind: kind, treatAsStatus: status)
}
