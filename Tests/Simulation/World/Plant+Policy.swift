import RelayBase
import RelayRoute

extension Plant {
    /// Changes what the core is given, while the checker believes the old policy.
    func change(_ policy: inout RoutePolicy, credentials: [CredentialCase]) {
        switch self {
        case .ignoresRetryAfter: retries(&policy) { $0.honorsRetryAfter = false }
        case .repeatsUnknown, .repeatsAnswered: retries(&policy) { $0.methods = .any }
        case .takesAllForRefusals:
            policy.errorTypes.append(
                ErrorTypeRule(
                    on: matcher(["http_status"]),
                    apiCodes: [],
                    kind: .httpStatus,
                    treatAsStatus: 429
                )
            )
        case .extraUse: retries(&policy) { $0.maxAttempts += 1 }
        case .otherSchedule:
            retries(&policy) { $0.backoff = Backoff(schedule: .constant(.milliseconds(250))) }
        case .takesAnyPace: policy.timeouts.minRate = 0
        case .extraAttempt: policy.maxAttempts += 1
        case .longerDeadline: policy.timeouts.total *= 2
        case .falseSuccess: policy.success.statuses = StatusSet(codes: [429], classes: [.success])
        case .givesUp:
            policy.recovery = policy.recovery.filter { if case .retry = $0.action { false } else { true } }
        case .eagerPlaceholder:
            for index in policy.recovery.indices {
                if case .respond = policy.recovery[index].action {
                    policy.recovery[index].on = matcher(["any"])
                }
            }
        case .extraRefresh:
            for index in policy.recovery.indices {
                if case .refreshCredentials(let times) = policy.recovery[index].action {
                    policy.recovery[index].action = .refreshCredentials(maxTimes: times + 1)
                }
            }
        case .freshKey:
            let field = (name: "Idempotency-Key", template: FieldTemplate(parts: [.text("k"), .attempt]))
            policy.prepare.append(PreparationStep(phase: .attempt, fields: [field]))
        case .ignoresCooldown:
            for index in policy.upstreams.indices {
                let old = policy.upstreams[index]
                policy.upstreams[index] = Upstream(
                    name: old.name,
                    origin: old.origin,
                    basePath: old.basePath,
                    use: old.use
                )
            }
        case .keepsTooLong:
            if let rule = policy.response.keepsLastGood {
                policy.response.keepsLastGood = LastGoodRule(maxAge: rule.maxAge * 2)
            }
        case .staysPut: policy.response.redirects = .return
        case .goesAway: policy.response.redirects = .follow
        case .skipsPreparation: policy.request.wrap = nil
        case .wrongSecret:
            guard policy.authentication != nil else { return }
            let other = (0..<credentials.count).first {
                credentials[$0].name != policy.authentication?.credential
            }
            if let other { policy.authentication?.credential = credentials[other].name }
        case .reentersUpstream:
            guard policy.upstreams.count > 1 else { return }
            var entered: Set<Int> = []
            for index in policy.recovery.indices {
                guard case .failover(let target, let methods) = policy.recovery[index].action else {
                    continue
                }
                if entered.insert(target).inserted { continue }
                policy.upstreams.append(
                    Upstream(
                        name: "copy\(index)",
                        origin: policy.upstreams[target].origin,
                        basePath: "/api/",
                        use: .failoverOnly
                    )
                )
                policy.recovery[index].action = .failover(
                    upstream: policy.upstreams.count - 1,
                    methods: methods
                )
            }
        case .wrongOrigin:
            for index in policy.upstreams.indices.dropFirst() {
                policy.upstreams[index] = RouteCase.upstream(
                    World.upstreamCount,
                    name: policy.upstreams[index].name,
                    use: .failoverOnly
                )
            }
        default: break
        }
    }

    private func retries(_ policy: inout RoutePolicy, _ change: (inout RetryPolicy) -> Void) {
        for index in policy.recovery.indices {
            if case .retry(var retry) = policy.recovery[index].action {
                change(&retry)
                policy.recovery[index].action = .retry(retry)
            }
        }
    }
}
