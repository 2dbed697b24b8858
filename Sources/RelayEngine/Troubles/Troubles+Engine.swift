import RelayBase
import RelayCore
import RelayInterface
import RelayJobs
import RelayRoute

extension Troubles {
    /// Of the daemon as it is now; jobs are counted as of the last sweep, so that a store that does not answer is told of.
    package init(_ engine: Engine, _ durable: DurableJobs, _ daemon: DaemonFacts) {
        let (snapshot, counters, clock) = (engine.snapshot, durable.watch.counters, engine.time)
        let (now, wall) = (clock.now(), clock.wallMilliseconds())
        var daemon = daemon
        for (state, refusedBy) in snapshot.credentialStates(now: now) {
            let isFailing = state.failingSince != nil
            guard isFailing || !refusedBy.isEmpty else { continue }
            let kind = isFailing ? TroubleKind.credentialFailing : .credentialRefused
            let since = state.failingSince.map { wall - $0.duration(to: now).milliseconds }
            daemon.credentials.append((state.name, kind, since, refusedBy))
        }
        let credentials = Dictionary(daemon.credentials.map { ($0.name, $0.kind) }) { $1 }
        let (pauses, ending) = (durable.pauses.routes(of: nil), durable.ending.jobs)
        let end = wall.addingSaturating(EndingWatch.span)
        var jobs: [String: [JobState: Int]] = [:]
        for (group, count) in counters.counts
        where count > 0 && (!group.state.isTerminal || group.state == .dead) {
            jobs[group.route, default: [:]][group.state] = count
        }
        let history = engine.history.present
        let unconfigured = jobs.keys
            .filter { snapshot.routes[$0] == nil && !durable.watch.facts.routesElsewhere.contains($0) }
            .sorted()
        var found = daemon.troubles(wall)
        for name in snapshot.routeNames + unconfigured {
            let entry = snapshot.routes[name]
            let (jobs, mayBeTroubled) = (jobs[name] ?? [:], entry?.mayBeTroubled(wall) ?? false)
            guard !jobs.isEmpty || mayBeTroubled || pauses.contains(name) else { continue }
            // Of a route that is well all that may be said is of its jobs.
            var facts = RouteFacts(name, entry == nil ? nil : .ok)
            if mayBeTroubled, let entry { facts = RouteFacts(name, entry, history, now, wall) }
            facts.pause = durable.pauses.pause(of: name)
            if entry != nil, facts.pause != nil || facts.isForced {
                facts.revision = try? RouteRevision(name, engine, durable.pauses).text
            }
            (facts.jobs, facts.oldest, facts.next) = (jobs, counters.oldest[name], counters.next[name])
            if let ending = ending[name] {
                (facts.expiring, facts.held) = (ending.expiring, ending.held)
                facts.dying = entry.map { ending.dying(by: end, $0.route) } ?? facts.dying
            }
            found += facts.troubles(credentials, wall)
        }
        self.init(found)
    }
}

extension Snapshot.Entry {
    /// Whether more of it has to be looked at.
    fileprivate func mayBeTroubled(_ wall: Int64) -> Bool {
        state.health(at: wall).since != nil || state.underWay.pending > 0 || !memory.traffic.isCalm
            || route.policy.neverFails && state.meter.breaches > 0
    }
}

extension RouteFacts {
    fileprivate init(
        _ name: String,
        _ entry: Snapshot.Entry,
        _ history: HistoryMachine,
        _ now: Instant,
        _ wall: Int64
    ) {
        let (health, standing) = (
            entry.state.health(at: wall), entry.memory.traffic.standing(of: entry.route, now)
        )
        let account = entry.state.figures.account
        // The last minute and the running one.
        let columns = history.columns(of: entry).suffix(2)
        let lately = HistoryMachine.causes(of: columns)
        func moment(_ instant: Instant?) -> Int64? {
            instant.map { wall + now.duration(to: $0).milliseconds }
        }
        self.init(name)
        upstreams = zip(entry.route.policy.upstreams, standing.upstreams).map { configured, standing in
            var upstream = Upstream(configured.name, configured.origin.text)
            upstream.breaker = standing.breaker
            upstream.isReported = entry.route.reporting.contains(.breaker)
            // A breaker that only tells has nothing wait for its probe.
            let probe = standing.breaker == .wouldBeOpen ? nil : standing.until
            (upstream.since, upstream.until) = (moment(standing.since), moment(probe ?? standing.heldUntil))
            upstream.isFailing = standing.counts.map { $0.failedInARow > 0 } ?? false
            upstream.isSpared = standing.heldUntil != nil || !standing.holds.isEmpty || standing.rate != nil
            upstream.last = account.lastFailures[configured.name]
            upstream.failures = RouteFacts.failures(of: configured.name, lately, account)
            return upstream
        }
        pending = entry.state.underWay.pending
        crowd = pending > 0 ? entry.state.crowd : nil
        condition = health.condition(
            pending: pending,
            isPartlyOpen: upstreams.count > 1
                && upstreams.contains { [.open, .probing, .forcedOpen].contains($0.breaker) }
        )
        (since, last) = (health.since, health.lastFailure)
        credential = entry.route.policy.authentication?.credential
        breaches = Int(clamping: entry.state.meter.breaches)
        let failed = columns.reduce(0) { $0 + Int($1?.failures ?? 0) }
        let seconds = max(60, Int(history.age(now).components.seconds) - (history.count - columns.count) * 60)
        failuresPerMinute = (failed * 60 + seconds - 1) / seconds
    }

    /// Failed attempts at an upstream by kind and status: of the kinds that it has met, those of the route lately; and since
    /// the start where there were none.
    private static func failures(
        of upstream: String,
        _ lately: [(code: FailureCode, count: UInt64)],
        _ account: RouteAccount
    ) -> [FailureCount] {
        let known = account.failures.filter { $0.key.upstream == upstream }
        let recent = lately.compactMap { code, count in
            code.kind.flatMap { kind in
                known.keys.contains { $0.kind == kind } ? FailureCount(kind, code.status, count) : nil
            }
        }
        return recent.unlessEmpty ?? known.map { FailureCount($0.key.kind, nil, $0.value) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { saturatedNanoseconds / 1_000_000 }
}

extension EndingJobs {
    /// Those that have their last attempt by then where every attempt fails as the last one did.
    fileprivate func dying(by end: Int64, _ route: Route) -> Share {
        failed.reduce(Share()) { share, group in
            let after = route.lastAttempt(
                afterNextOf: group.kind,
                group.status,
                made: group.made,
                spent: group.spent
            )
            guard let after else { return share }
            let last = group.due.addingSaturating(after.milliseconds)
            return last <= end ? share + Share(group.count, first: last) : share
        }
    }
}
