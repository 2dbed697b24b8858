import RelayBase
import RelayJobs
import RelayPostgres

extension FleetCore {
    /// Entries that one look for what waits reads at most.
    private static let look = 20_000

    func counters(withDue: Bool) async throws(StoreError) -> JobCounters {
        let s = statements.s
        let sent = steady
        let results = try await round(
            "count jobs",
            [
                PostgresStatement(
                    """
                    SELECT route, state, minute, sum(delta)::bigint, \(statements.now) FROM \(s).tally
                    GROUP BY route, state, minute HAVING sum(delta) <> 0
                    """
                ),
                PostgresStatement(
                    """
                    SELECT route, min(due) FILTER (WHERE due <= \(statements.now)),
                    min(due) FILTER (WHERE due > \(statements.now) AND state <> 0) FROM
                    (SELECT * FROM \(s).deferred d WHERE due >= $1 ORDER BY due LIMIT \(Self.look)) d
                    WHERE \(statements.isGood("d")) GROUP BY route
                    """,
                    [.int64(deferredFloor.subtractingSaturating(FleetLines.unheard))]
                ),
                PostgresStatement("SELECT id, name FROM \(s).route"),
                PostgresStatement(
                    "SELECT coalesce(sum(delta), 0)::bigint FROM \(s).tally WHERE state < 5 AND party = $1",
                    [.int64(FleetHome().party(of: JobRecord.Submitter.ofNotices.user))]
                ),
                PostgresStatement(
                    """
                    SELECT name, array_to_string(routes, ',') FROM \(s).node
                    WHERE until >= \(statements.now) OR name = $1
                    """,
                    [.text(options.node)]
                ),
            ]
        )
        for row in 0..<results[2].count {
            if let id = results[2].int64(row, 0), let name = results[2].text(row, 1) {
                learn(name, Int32(clamping: id))
            }
        }
        takeNodes(results[4])
        if results[0].count > 0 { observe(results[0].int64(0, 4), sent: sent) }
        var counters = JobCounters()
        counters.notices = max(0, Int(results[3].int64(0, 0) ?? 0))
        let goneMinute = goneSucceeded / 60_000 - 1
        for row in 0..<results[0].count {
            guard let route = name(results[0].int64(row, 0)),
                let state = results[0].int64(row, 1).flatMap({ JobState(rawValue: UInt8(clamping: $0)) }),
                let minute = results[0].int64(row, 2), let count = results[0].int64(row, 3), count > 0,
                state != .succeeded || minute > goneMinute
            else { continue }
            counters.add(
                JobCounters.Group(route: route, state: state),
                count: Int(count),
                minute: minute,
                nowMinute: now / 60_000
            )
        }
        for row in 0..<results[1].count {
            guard let route = name(results[1].int64(row, 0)) else { continue }
            if withDue, let due = results[1].int64(row, 1) { counters.due[route] = due }
            if let next = results[1].int64(row, 2) { counters.next[route] = next }
        }
        if withDue { try await addDue(&counters) }
        counters.next = counters.next.filter { counters.count(.retrying, of: $0.key) > 0 }
        return counters
    }

    /// Adds since when the first job of each route has been due: claimed ones do not count, though their entries stay.
    private func addDue(_ counters: inout JobCounters) async throws(StoreError) {
        let waiting = counters.counts.keys.filter { $0.state == .queued || $0.state == .retrying }
        let numbers = Set(waiting.compactMap { routes[$0.route] }).sorted()
        let results =
            numbers.isEmpty
            ? []
            : try await round(
                "look for work",
                numbers.map { number in
                    PostgresStatement(
                        statements.firstDue,
                        [.int32(number), .int64(lines[number]?.low ?? .min)]
                    )
                }
            )
        for (number, result) in zip(numbers, results) {
            if let time = result.int64(0, 1) {
                lines[number, default: FleetLines()].wasEmpty(before: min(result.int64(0, 0) ?? time, time))
            }
            guard let route = name(Int64(number)), let due = result.int64(0, 0) else { continue }
            counters.due[route] = min(counters.due[route] ?? .max, due)
        }
        for row in running.values {
            let (route, due) = (row.record.route, row.standing.machine.runAt)
            counters.due[route] = min(counters.due[route] ?? .max, due)
        }
    }

    /// Which nodes live, and what routes they have.
    private func takeNodes(_ nodes: PostgresResult) {
        facts.nodes = nodes.count
        let others = (0..<nodes.count).filter { nodes.text($0, 0) != options.node }
        facts.routesElsewhere = Set(
            others.flatMap { Self.numbers(nodes.text($0, 1)) }.compactMap { name($0) }
        )
    }

    private func name(_ number: Int64?) -> String? { number.flatMap { routeNames[Int32(clamping: $0)] } }

    func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] {
        let result = try await round(
            "count jobs",
            [
                PostgresStatement(
                    """
                    SELECT party, sum(delta)::bigint FROM \(statements.s).tally WHERE state < 5 GROUP BY party
                    HAVING sum(delta) > 0
                    """
                )
            ]
        )[0]
        var counts: [UInt32?: Int] = [:]
        for row in 0..<result.count {
            guard let party = result.int64(row, 0), let count = result.int64(row, 1) else { continue }
            if home.has(party) { counts[FleetHome.user(of: party), default: 0] += Int(count) }
        }
        return counts
    }

    /// Unfinished jobs that have an entry, or are held: those that may have failed, up to a number; of most the route only.
    private func waiting() async throws(StoreError) -> [FleetRow] {
        let s = statements.s
        let results = try await round(
            "look at what waits",
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns(record: "NULL::bytea")) FROM (SELECT seq, slot FROM \(s).deferred d WHERE \(statements.isGood("d"))
                    UNION ALL SELECT seq, slot FROM \(s).ready r WHERE \(statements.isGood("r")) LIMIT \(Self.look)) x
                    \(statements.job(of: "x")) \(statements.lastChange)
                    """
                ),
                PostgresStatement(
                    statements.side(isNewest: false, record: "NULL::bytea"),
                    [.int16s([4]), .int64(0), .int64(Int64(Self.look))]
                ),
            ]
        )
        let rows = results.flatMap { result in
            (0..<result.count).compactMap { index in
                let route = name(result.int64(index, 3)) ?? ""
                return try? FleetRow(result, index, named: route)
            }
        }
        return rows + Array(running.values)
    }

    func failures(of route: String?) async throws(StoreError) -> [FailureKind: [Int]] {
        var found: [FailureKind: [Int]] = [:]
        for row in try await waiting() where route == nil || row.record.route == route {
            guard let kind = row.standing.machine.failureKind else { continue }
            let bucket = JobCounters.bucket(ageMinutes: now / 60_000 - row.created / 60_000)
            found[kind, default: Array(repeating: 0, count: JobCounters.bucketCount)][bucket] += 1
        }
        return found
    }

    func ending(by end: Int64, of routes: [String]) async throws(StoreError) -> [String: EndingJobs] {
        var found: [String: EndingJobs] = [:]
        for row in try await waiting() {
            let (route, machine) = (row.record.route, row.standing.machine)
            guard !machine.state.isTerminal, machine.state != .running else { continue }
            let expiry = machine.expiresAt ?? .max
            let share = EndingJobs.Share(1, first: expiry)
            var jobs = found[route] ?? EndingJobs()
            if expiry <= end, machine.state == .held {
                jobs.held = jobs.held + share
            } else if expiry <= end {
                jobs.expiring = jobs.expiring + share
            } else if let kind = machine.failureKind, machine.state != .held, machine.runAt <= end,
                routes.contains(route)
            {
                jobs.failed.append(
                    EndingJobs.Failed(
                        kind,
                        machine.failureStatus,
                        made: Int(machine.attempts - machine.earlierAttempts),
                        spent: Int(machine.spentAttempts),
                        due: machine.runAt,
                        count: 1
                    )
                )
            } else {
                continue
            }
            found[route] = jobs
        }
        return found
    }
}
