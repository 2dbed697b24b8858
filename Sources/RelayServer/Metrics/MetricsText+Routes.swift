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
        // There from the first one on: a route has no use for those of jobs that are not kept, or of waits that are none.
        let durations: KeyValuePairs = [
            Metric.jobDuration: figures.lives, .startDelay: figures.starts, .permitWait: figures.permitWaits,
        ]
        for (metric, counts) in durations where counts.count > 0 { add(metric, [name], counts) }
        let delays = figures.delays.count
        if delays > 0 { add(.retryDelay, [name], delays, figures.delays.microseconds) }
        // From nothing on: the first time must show as an increase.
        var recoveries: [[String]: UInt64] = [:]
        var rules: Set = [RouteAccount.quickRecovery]
        for rule in entry.route.deliveryRules {
            rules.insert(rule.name)
            for word in rule.words { recoveries[[name, rule.name, word.rawValue]] = 0 }
        }
        for (recovery, count) in figures.account.recoveries where rules.contains(recovery.rule) {
            recoveries[[name, recovery.rule, recovery.action]] = count
        }
        add(.recoveries, recoveries)
        for (by, count) in figures.account.wouldHave(entry.route) { add(.wouldHave, [name, by], count) }
        if entry.route.lookUp != nil {
            for word in LookUp.ofRequests {
                add(.verifications, [name, word.rawValue], figures.account.lookUps[word] ?? 0)
            }
        }
        if entry.route.policy.response.stream?.commit != nil {
            for word in HeadRelease.allCases {
                add(.streamHeads, [name, word.rawValue], figures.account.releases[word] ?? 0)
            }
        }
        if entry.route.hedges {
            for word in HedgeEnd.allCases {
                add(.hedges, [name, word.rawValue], figures.account.hedges[word] ?? 0)
            }
        }
        if let follow = entry.route.follow {
            for word in LookUp.ofOperations + (follow.settings.cancel == nil ? [] : LookUp.ofStops) {
                add(.looks, [name, word.rawValue], figures.account.lookUps[word] ?? 0)
            }
        }
        add(.budgetExhausted, [name], figures.account.budgetSpent)
        for (reason, count) in entry.state.meter.ordinary { add(.ordinary, [name, reason.rawValue], count) }
        for (reason, count) in entry.state.meter.promoted { add(.promoted, [name, reason.rawValue], count) }
        let underWay = entry.state.underWay
        add(.inFlight, [name], underWay.sent)
        add(.waiting, [name], underWay.pending)
        add(.permits, [name], entry.route.policy.concurrency.maxRequests)
        add(.paused, [name], isPaused)
        if let closed = entry.route.policy.closed {
            add(.closed, [name], closed.end(at: clock.wallMilliseconds() / 1_000) != nil)
        }
        if let held = entry.route.policy.authentication { add(.routeCredential, [name, held.credential], 1) }
        for upstream in entry.memory.upstreams { add(entry.route, figures.account, upstream) }
        add(
            name,
            standing: entry.memory.traffic.standing(of: entry.route, clock.now()),
            figures.account,
            clock
        )
    }

    private mutating func add(_ route: Route, _ account: RouteAccount, _ upstream: UpstreamMeter) {
        let labels = [route.name, upstream.name]
        add(.attemptsTotal, labels + ["success", ""], upstream.succeeded)
        let (attempts, opened) = (upstream.attempts, upstream[.opened])
        add(.attemptDuration, labels, attempts)
        // From nothing on what an alert or the board goes by.
        var kinds: [FailureKind: UInt64] = [.breakerOpen: 0, .rateLimited: 0]
        var failures: UInt64 = 0
        for (failure, count) in account.failures where failure.upstream == upstream.name {
            kinds[failure.kind] = count
            if failure.kind.tellsOfUpstream { failures &+= count }
        }
        for (kind, count) in kinds { add(.attemptsTotal, labels + ["failure", kind.rawValue], count) }
        add(.upstreamFailures, labels, failures)
        var connecting: KeyValuePairs = ["opened": opened, "reused": upstream[.reused]]
        for (use, count) in connecting { add(.connecting, labels + [use], count) }
        if opened > 0 { add(.connectDuration, labels, opened, upstream[.microseconds]) }
        let place = route.policy.upstreams.first { $0.name == upstream.name }
        guard case .tcp(_, _, isTLS: true)? = place?.origin else { return }
        connecting = ["full": upstream[.fullHandshakes], "resumed": upstream[.resumedHandshakes]]
        for (kind, count) in connecting { add(.handshakes, labels + [kind], count) }
    }

    private mutating func add(
        _ route: String,
        standing: RouteStanding,
        _ account: RouteAccount,
        _ clock: any ClockSource
    ) {
        let (now, wall) = (clock.now(), clock.wallMilliseconds())
        for upstream in standing.upstreams {
            // Of one that nothing has made report there is no such series.
            for state in RouteStanding.Breaker.allCases
            where state != .wouldBeOpen || upstream.breaker == state {
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
