import RelayBase
import RelayRoute

extension Plant {
    /// Changes what the core is given, while the checker believes the old policy.
    func change(_ policy: inout RoutePolicy, credentials: [CredentialCase]) {
        switch self {
        case .ignoresRetryAfter: retries(&policy) { $0.honorsRetryAfter = false }
        case .repeatsUnknown, .repeatsAnswered: retries(&policy) { $0.methods = .any }
        case .takesAllForRefusals:
            policy.errorTypes.append(errorType(["http_status"], .httpStatus, as: 429))
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
            rules(&policy) { if case .respond = $0.action { $0.on = matcher(["any"]) } }
        case .extraRefresh:
            rules(&policy) {
                guard case .refreshCredentials(let times) = $0.action else { return }
                $0.action = .refreshCredentials(maxTimes: times + 1)
            }
        case .freshKey:
            let field = (name: "Idempotency-Key", value: FieldTemplate(parts: [.text("k"), .attempt]))
            policy.prepare.append(PreparationStep(phase: .attempt, fields: [field]))
        case .ignoresCooldown:
            policy.upstreams = policy.upstreams.map {
                Upstream(name: $0.name, origin: $0.origin, basePath: $0.basePath, use: $0.use)
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
            let other = credentials.first { $0.name != policy.authentication?.credential }
            if let other { policy.authentication?.credential = other.name }
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

    private func rules(_ policy: inout RoutePolicy, _ change: (inout RecoveryRule) -> Void) {
        for index in policy.recovery.indices { change(&policy.recovery[index]) }
    }

    private func retries(_ policy: inout RoutePolicy, _ change: (inout RetryPolicy) -> Void) {
        rules(&policy) {
            guard case .retry(var retry) = $0.action else { return }
            change(&retry)
            $0.action = .retry(retry)
        }
    }
}
