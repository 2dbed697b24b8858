import RelayBase

extension RecoveryRule {
    /// The rule that delivers the kept jobs of a route without rules: an upstream that is down, slow or out of order is
    /// tried again for two days.
    package static let deliverLater: RecoveryRule = {
        var retry = RetryPolicy()
        let waits: [Duration] = [
            .seconds(5), .seconds(300), .seconds(1_800), .seconds(7_200), .seconds(18_000), .seconds(36_000),
            .seconds(50_400), .seconds(72_000),
        ]
        retry.backoff = Backoff(schedule: .list(waits), jitter: .percent(20))
        retry.maxAttempts = waits.count + 1
        retry.maxRetryAfter = .seconds(86_400)
        let failures: [FailureMatcher.Token] = [
            .group(.connection), .group(.timeout), .group(.tls), .group(.protocol),
            .statusClass(.serverError),
            .status(408), .status(425), .status(429),
        ]
        return RecoveryRule(name: "deliver-later", on: FailureMatcher(failures), action: .retry(retry))
    }()

    /// Its waits after answers that say too many came: the upstream is there, and may have room in a moment.
    package static let untilCapacity = Backoff(
        schedule: .exponential(base: .milliseconds(250), multiplier: 2, maximum: .seconds(256)),
        jitter: .equal
    )
}
