package import RelayBase
import RelayCore
package import RelayEngine
import RelayJobs
import RelayRoute

extension MetricsText {
    /// The outcomes of a route's requests, and the state of the route and its upstreams.
    package mutating func add(
        _ name: String,
        _ entry: Snapshot.Entry,
        isPaused: Bool,
        _ clock: any ClockSource
    ) {
        let figures = entry.state.figures
        let outcomes: KeyValuePairs = [
            OutcomeWord.success: figures[.succeeded], .fallback: figures[.fallback],
            .placeholder: figures[.placeholder], .stale: figures[.stale], .failure: figures[.failed],
        ]
        for (word, count) in outcomes { add(.requestsTotal, [name, word.rawValue], count) }
        add(.requestsTotal, [name, JobState.cancelled.name], figures[.cancelled])
        add(.requestDuration, [name], figures.answers, exemplars: entry.state.meter.exemplars)
        add(.breaches, [name], figures[.breaches])
        add(.jobsAccepted, [name], figures[.accepted])
        let ends: KeyValuePairs = [
            JobState.succeeded: figures[.jobsSucceeded], .dead: figures[.jobsDead],
            .cancelled: figures[.jobsCancelled], .expired: figures[.jobsExpired],
        ]
        for (state, count) in ends { add(.jobsFinished, [name, state.name], count) }
        add(.jobsFinished, [name, "dropped"], figures[.jobsDropped])
        add(.jobDuration, [name], figures.lives, .lifetime)
        add(.retryDelay, [name], figures.delays, .lifetime)
        // From nothing on: the first time must show as an increase.
        var recoveries: [RouteAccount.RecoveryName: UInt64] = [:]
        for rule in entry.route.deliveryRules {
            for word in rule.words {
                recoveries[RouteAccount.RecoveryName(rule: rule.name, action: word.rawValue)] = 0
            }
        }
        let rules = Set(entry.route.deliveryRules.map(\.name) + [RouteAccount.quickRecovery])
        recoveries.merge(figures.account.recoveries.filter { rules.contains($0.key.rule) }) { $1 }
        for (recovery, count) in recoveries.sorted(by: {
            ($0.key.rule, $0.key.action) < ($1.key.rule, $1.key.action)
        }) {
            add(.recoveries, [name, recovery.rule, recovery.action], count)
        }
        add(.budgetExhausted, [name], figures.account.budgetSpent)
        for (reason, count) in entry.state.meter.ordinary { add(.ordinary, [name, reason.rawValue], count) }
        for (reason, count) in entry.state.meter.promoted { add(.promoted, [name, reason.rawValue], count) }
        let underWay = entry.state.underWay
        add(.inFlight, [name], underWay.sent)
        add(.waiting, [name], underWay.pending)
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
        func labels(_ name: RouteAccount.FailureName) -> (String, String) {
            (name.upstream, name.kind.rawValue)
        }
        // From nothing on what an alert goes by.
        var failures: [RouteAccount.FailureName: UInt64] = [:]
        for upstream in upstreams {
            failures[RouteAccount.FailureName(upstream: upstream.name, kind: .rateLimited)] = 0
        }
        let names = Set(upstreams.map(\.name))
        failures.merge(account.failures.filter { names.contains($0.key.upstream) }) { $1 }
        for (failure, count) in failures.sorted(by: { labels($0.key) < labels($1.key) }) {
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
            if let until = ([upstream.heldUntil] + upstream.holds.map(\.until)).compactMap({ $0 }).max() {
                let milliseconds = wall + now.duration(to: until).saturatedNanoseconds / 1_000_000
                add(.heldUntil, [route, upstream.name], Int64((Double(milliseconds) / 1_000).rounded()))
            }
        }
        add(.retriesInFlight, [route], standing.retries)
        if let left = standing.retriesLeft { add(.retriesLeft, [route], left) }
        if let left = standing.slotsLeft { add(.slotsLeft, [route], left) }
    }
}
