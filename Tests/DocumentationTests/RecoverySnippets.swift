import RelayKit

extension RoutePolicy {
    /// Two places, one credential, and something to say when all of it fails.
    static func rates() throws(Refusal) -> RoutePolicy {
        var policy = RoutePolicy(upstreams: [
            try Upstream("https://rates.example/v2/", name: "rates"),
            try Upstream(
                "https://spare.example/v2/",
                name: "spare",
                use: .failoverOnly,
                cooldown: .seconds(30)
            ),
        ])
        policy.maxAttempts = 5
        policy.timeouts.attempt = .seconds(3)
        policy.timeouts.total = .seconds(8)
        policy.recovery = [
            .fail(on: [404]),
            .backoff(
                on: [429, 503, .connection],
                maxAttempts: 3,
                Backoff(schedule: .list([.milliseconds(200), .seconds(1)]), jitter: .none)
            ),
            .failover(to: 1),
            .placeholder(CannedAnswer(bytes: Array("[]".utf8))),
        ]
        return policy
    }
}

/// Waits as long as the upstream's own field says.
struct WaitForTheReset: RecoveryStrategy {
    let name = "reset"

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        guard let name = FieldName("X-RateLimit-Reset"),
            let seconds = failure.response?.fields[name].flatMap({ Int64($0) }),
            seconds >= 0
        else { return .passOn }
        guard .seconds(seconds) < context.timeLeft else { return .stop(failure) }
        return .retry(request, after: .seconds(seconds))
    }
}
