import RelayCore

extension Plant {
    /// Changes what the core is given, while the checker believes the old policy.
    func change(_ policy: inout RoutePolicy, credentials: [CredentialCase]) {
        switch self {
        case .ignoresRetryAfter: retries(&policy) { $0.honorsRetryAfter = false }
        case .repeatsUnknown: retries(&policy) { $0.methods = .any }
        case .extraUse: retries(&policy) { $0.maxAttempts += 1 }
        case .otherSchedule: retries(&policy) { $0.backoff = Backoff(schedule: .constant(.milliseconds(250))) }
        case .extraAttempt: policy.maxAttempts += 1
        case .longerDeadline: policy.timeouts.total *= 2
        case .falseSuccess: policy.success.statuses = StatusSet(codes: [429], classes: [.success])
        case .givesUp: policy.recovery = policy.recovery.filter { if case .retry = $0.action { false } else { true } }
        case .eagerPlaceholder:
            for index in policy.recovery.indices {
                if case .respond = policy.recovery[index].action { policy.recovery[index].on = matcher(["any"]) }
            }
        case .wrongOrigin:
            guard policy.authentication != nil else { return }
            let other = (0..<credentials.count).first { credentials[$0].name != policy.authentication?.credential }
            if let other { policy.authentication?.credential = credentials[other].name }
        case .reentersUpstream:
            guard policy.upstreams.count > 1 else { return }
            policy.upstreams[1] = Upstream(
                name: "u1",
                origin: policy.upstreams[0].origin,
                basePath: "/api/",
                use: .failoverOnly
            )
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
