package import RelayCore
package import RelayEngine

extension MetricsText {
    /// What a route's requests came to, and how it and its upstreams stand.
    package mutating func add(
        _ name: String,
        _ entry: Snapshot.Entry,
        isPaused: Bool,
        _ clock: any ClockSource
    ) {
        let figures = entry.state.figures
        let outcomes: KeyValuePairs = [
            "success": figures.succeeded, "fallback": figures.fallback, "placeholder": figures.placeholder,
            "stale": figures.stale, "failure": figures.failed, "cancelled": figures.cancelled,
        ]
        for (word, count) in outcomes { add(.requestsTotal, [name, word], count) }
        add(.requestDuration, [name], figures.answers, exemplars: entry.state.meter.exemplars)
        add(.breaches, [name], figures.breaches)
        add(.jobsAccepted, [name], figures.accepted)
        let ends: KeyValuePairs = [
            JobState.succeeded: figures.jobsSucceeded, .dead: figures.jobsDead,
            .cancelled: figures.jobsCancelled, .expired: figures.jobsExpired,
        ]
        for (state, count) in ends { add(.jobsFinished, [name, state.name], count) }
        add(.jobDuration, [name], figures.lives, .lifetime)
        // From nothing on: the first time must show as an increase.
        var recoveries: [RouteAccount.RecoveryName: UInt64] = [:]
        for rule in entry.route.deliveryRules {
            recoveries[RouteAccount.RecoveryName(rule: rule.name, action: rule.action.word)] = 0
        }
        recoveries.merge(figures.account.recoveries) { $1 }
        for (recovery, count) in recoveries.sorted(by: {
            ($0.key.rule, $0.key.action) < ($1.key.rule, $1.key.action)
        }) {
            add(.recoveries, [name, recovery.rule, recovery.action], count)
        }
        add(.budgetExhausted, [name], figures.account.budgetSpent)
        let load = entry.state.load
        add(.inFlight, [name], load.inFlight)
        add(.waiting, [name], load.pending)
        add(.permits, [name], entry.route.policy.concurrency.maxRequests)
        add(.paused, [name], isPaused)
        add(name, attempts: figures.account, entry.memory.upstreams)
        add(
            name,
            standing: entry.memory.traffic.standing(of: entry.route, clock.now()),
            figures.account,
            clock
        )
    }

    private mutating func add(_ route: String, attempts account: RouteAccount, _ upstreams: [UpstreamMeter]) {
        for upstream in upstreams {
            add(.attemptsTotal, [route, upstream.name, "success", ""], upstream.succeeded)
            add(.attemptDuration, [route, upstream.name], upstream.attempts)
        }
        func names(_ name: RouteAccount.FailureName) -> (String, String) {
            (name.upstream, name.kind.rawValue)
        }
        for (failure, count) in account.failures.sorted(by: { names($0.key) < names($1.key) }) {
            add(.attemptsTotal, [route, failure.upstream, "failure", failure.kind.rawValue], count)
        }
    }

    private mutating func add(
        _ route: String,
        standing: RouteStanding,
        _ account: RouteAccount,
        _ clock: any ClockSource
    ) {
        let (now, wall) = (clock.now(), clock.wallMilliseconds())
        for upstream in standing.upstreams {
            for state in RouteStanding.Breaker.allCases {
                add(.breakerState, [route, upstream.name, state.rawValue], upstream.breaker == state)
            }
            for isOpen in [true, false] {
                let move = RouteAccount.BreakerMove(upstream: upstream.name, isOpen: isOpen)
                let state: RouteStanding.Breaker = isOpen ? .open : .closed
                add(
                    .breakerTransitions,
                    [route, upstream.name, state.rawValue],
                    account.breakerMoves[move] ?? 0
                )
            }
            if let window = upstream.window { add(.window, [route, upstream.name], window) }
            if let until = upstream.heldUntil {
                let milliseconds = wall + now.duration(to: until).saturatedNanoseconds / 1_000_000
                add(.heldUntil, [route, upstream.name], seconds: Double(milliseconds) / 1_000)
            }
        }
        add(.retriesInFlight, [route], standing.retries)
        if let left = standing.retriesLeft { add(.retriesLeft, [route], left) }
        if let left = standing.turnsLeft { add(.turnsLeft, [route], left) }
    }
}
