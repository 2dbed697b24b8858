import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

/// Routes as documents: how they are doing, what holds them back and what waits for them.
struct RouteView {
    let snapshot: Snapshot
    let durable: DurableJobs
    let counters: JobCounters
    private let time: any TimeSource

    init(_ server: LoopServer) async throws(Problem) {
        snapshot = server.engine.snapshot
        durable = server.durable
        time = server.relay.ports.time
        counters = try await RouteView.counters(server)
    }

    static func counters(_ server: LoopServer) async throws(Problem) -> JobCounters {
        try await server.durable.store.told { store throws(StoreError) in
            try await store.counters(at: JobMoment(server.relay.ports.time))
        }
    }

    /// Unfinished jobs of one route, or of all, by what failed last and by age.
    static func failures(_ route: String?, _ server: LoopServer) async throws(Problem) -> [FailureKind: [Int]]
    {
        try await server.durable.store.told { store throws(StoreError) in
            try await store.failures(of: route, at: JobMoment(server.relay.ports.time))
        }
    }

    /// Those of the configuration in its order, then those that only have jobs.
    var names: [String] {
        let known = Set(snapshot.routeNames)
        return snapshot.routeNames
            + Set(counters.counts.filter { $0.value > 0 }.keys.map(\.route)).subtracting(known).sorted()
    }

    func write(_ name: String, into json: inout JSONObjectWriter) {
        json.member("name", name)
        let pause = durable.pauses.pause(of: name)
        if let entry = snapshot.routes[name] {
            entry.write(isPaused: pause != nil, time, into: &json)
            writePause(pause, into: &json)
            json.member("delivery", entry.route.policy.delivery.mode.rawValue)
            json.member("max_requests", entry.route.policy.concurrency.maxRequests)
            json.member("max_pending_requests", entry.route.policy.concurrency.maxPendingRequests)
            if let credential = entry.route.policy.authentication?.credential {
                json.member("credential", credential)
            }
            if let reason = entry.ordinaryReason {
                Job.OrdinaryPath(.ordinary(reason)).write("ordinary_path", into: &json)
            }
            let account = entry.state.figures.account
            writeTraffic(entry, account, into: &json)
            writeRules(entry, account, into: &json)
            let kinds = RouteView.ownKinds(entry.route.policy)
            if !kinds.isEmpty {
                json.array("own_kinds") { list in for kind in kinds { list.element(kind.rawValue) } }
            }
        } else {
            json.member("state", RouteState.unconfigured)
            writePause(pause, into: &json)
        }
        json.object("jobs") { jobs in
            for state in JobState.allCases {
                jobs.member(state.name, counters.counts[JobCounters.Group(route: name, state: state)] ?? 0)
            }
        }
        if let oldest = counters.oldest[name] {
            json.moment("oldest_job_at", oldest)
        }
        json.moment("next_attempt_at", counters.next[name])
    }

    /// Kinds of failures that only the route's own rules name.
    private static func ownKinds(_ policy: RoutePolicy) -> [FailureKind] {
        var kinds: [FailureKind] = []
        for kind in policy.errorTypes.map(\.kind) + policy.success.fail.map(\.kind)
        where !FailureKind.known.contains(kind) && !kinds.contains(kind) {
            kinds.append(kind)
        }
        return kinds
    }

    /// The rules about failures, in the order in which they are asked, and how often each rule has acted.
    private func writeRules(
        _ entry: Snapshot.Entry,
        _ account: RouteAccount,
        into json: inout JSONObjectWriter
    ) {
        json.array("rules") { list in
            for rule in entry.route.deliveryRules {
                list.object { writer in
                    writer.member("name", rule.name)
                    writer.array("on") { words in for token in rule.on.tokens { words.element(token.word) } }
                    if let word = rule.words.last { writer.member("action", word.rawValue) }
                    if case .retry(let policy) = rule.action {
                        writer.member("max_attempts", policy.maxAttempts)
                    }
                    let count = account.recoveries.reduce(0) { $1.key.rule == rule.name ? $0 + $1.value : $0 }
                    writer.member("acted", count)
                }
            }
        }
    }

    /// How the upstreams take what they are sent, and what holds the route back.
    private func writeTraffic(
        _ entry: Snapshot.Entry,
        _ account: RouteAccount,
        into json: inout JSONObjectWriter
    ) {
        let (now, wall) = (time.now(), time.wallMilliseconds())
        func moment(_ instant: Instant) -> Int64 {
            wall + now.duration(to: instant).saturatedNanoseconds / 1_000_000
        }
        let standing = entry.memory.traffic.standing(of: entry.route, now)
        json.array("upstreams") { list in
            for upstream in standing.upstreams {
                list.object { writer in
                    writer.member("name", upstream.name)
                    writer.member("breaker", upstream.breaker.rawValue)
                    if let counts = upstream.counts {
                        writer.object("counts") { object in
                            object.member("attempts", counts.attempts)
                            object.member("failed", counts.failed)
                            object.member("failed_in_a_row", counts.failedInARow)
                            let span = entry.route.policy.traffic.breaker.counted
                            object.member("span_ms", span.saturatedNanoseconds / 1_000_000)
                        }
                    }
                    if let since = upstream.since { writer.moment("since", moment(since)) }
                    if let until = upstream.until { writer.moment("until", moment(until)) }
                    if !upstream.failing.isEmpty {
                        writer.array("failing") { list in
                            for failing in upstream.failing { list.object { failing.write(into: &$0) } }
                        }
                    }
                    if let held = upstream.heldUntil { writer.moment("held_until", moment(held)) }
                    if !upstream.holds.isEmpty {
                        writer.array("holds") { list in
                            for hold in upstream.holds {
                                list.object {
                                    $0.member("requests", hold.requests)
                                    $0.moment("until", moment(hold.until))
                                }
                            }
                        }
                    }
                    if let rate = upstream.rate { writer.member("rate", Int(rate.rounded(.up))) }
                    if let requests = upstream.ratedRequests { writer.member("rate_of", requests) }
                    writer.member("under_way", upstream.underWay)
                    if let window = upstream.window { writer.member("window", window) }
                    if let failure = account.lastFailures[upstream.name] {
                        writer.object("last_failure") { failure.write(into: &$0) }
                    }
                }
            }
        }
        json.member("retries_under_way", standing.retries)
        if let left = standing.retriesLeft { json.member("retries_left", left) }
        if let left = standing.turnsLeft { json.member("turns_left", left) }
        if let next = standing.nextTurn { json.moment("next_turn_at", moment(next)) }
    }

    private func writePause(_ pause: RoutePause?, into json: inout JSONObjectWriter) {
        guard let pause else { return }
        json.object("pause") { writer in
            writer.member("reason", pause.reason)
            writer.moment("began_at", pause.began)
            writer.moment("until", pause.until)
            if let rule = pause.rule { writer.member("rule", rule) }
            writer.principal(pause.by)
        }
    }
}

extension RouteStanding.FailingRequests {
    fileprivate func write(into json: inout JSONObjectWriter) {
        json.member("requests", requests)
        if let user { json.member("uid", user) }
        json.member("attempts", attempts)
        json.member("failed", failed)
    }
}
