import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// Jobs that depend on others by an ordering or a supersede key: whoever changes one holds the locks of its keys.
extension FleetCore {
    /// A job of a key, as `turn` has it.
    private struct Turn {
        let scope: [UInt8]
        let row: FleetRow
        /// The first jobs that stand before it in its ordering key, whatever key this is.
        var before: Set<Int64> = []
    }

    /// Runs a transaction that holds the locks of the keys; it is over with an error, or committed.
    func locked<Value>(
        _ scopes: Set<FleetScope>,
        _ connection: PostgresConnection,
        _ body: (PostgresConnection) async throws(PostgresError) -> (Value, [PostgresStatement])
    ) async throws(PostgresError) -> (Value, [PostgresResult]) {
        let statementTimeout = options.statementTimeout
        do throws(PostgresError) {
            _ = try await connection.run(
                [
                    PostgresStatement("BEGIN"),
                    PostgresStatement(
                        """
                        SELECT pg_advisory_xact_lock(l) FROM (SELECT DISTINCT hashtextextended(encode(x, 'hex'), 0) l
                        FROM unnest($1::bytea[]) x ORDER BY l) x
                        """,
                        [.bytesArray(scopes.map(\.bytes))]
                    ),
                ],
                within: statementTimeout
            )
            let (value, last) = try await body(connection)
            let results = try await connection.run(
                last + [PostgresStatement("COMMIT")],
                within: statementTimeout
            )
            return (value, results)
        } catch {
            if !connection.isOver {
                do throws(PostgresError) {
                    _ = try await connection.run([PostgresStatement("ROLLBACK")], within: statementTimeout)
                } catch { connection.close() }
            }
            throw error
        }
    }

    /// The unfinished jobs of the keys: the last ones of an ordering key, all of a supersede key.
    private func turns(
        of scopes: Set<FleetScope>,
        _ connection: PostgresConnection
    ) async throws(PostgresError) -> [Turn] {
        let results = try await connection.run(
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns), x.scope, '' FROM unnest($1::bytea[], $2::int[]) AS k(scope, most), LATERAL (
                    SELECT t.scope, t.n, t.seq, t.slot FROM \(statements.s).turn t WHERE t.scope = k.scope
                    ORDER BY t.n DESC LIMIT k.most) x
                    \(statements.job(of: "x")) \(statements.lastChange)
                    ORDER BY x.scope, x.n
                    """,
                    [
                        .bytesArray(scopes.map(\.bytes)),
                        .int32s(scopes.map { $0.kind == .ordering && scopes.count == 1 ? 1 : 1_000 }),
                    ]
                )
            ],
            within: options.statementTimeout
        )
        return read(results[0], FleetRow.columnCount)
    }

    private func read(_ result: PostgresResult, _ column: Int) -> [Turn] {
        (0..<result.count).compactMap { index in
            guard let scope = result.bytes(index, column), let row = try? FleetRow(result, index) else {
                return nil
            }
            return Turn(scope: scope, row: row, before: Set(Self.numbers(result.text(index, column + 1))))
        }
    }

    /// Accepts jobs with such keys, of which no two share one.
    func putInTurn(_ jobs: [FleetAcceptance]) async throws(PostgresError) -> [JobID: EnqueueResult] {
        for _ in 0..<Self.tries {
            do throws(PostgresError) { return try await tryPutInTurn(jobs) } catch {
                guard error.sqlState == Self.keysChanged else { throw error }
            }
        }
        return try await tryPutInTurn(jobs)
    }

    /// How often an acceptance is tried again that found other jobs behind its keys than it had locked.
    private static let tries = 8
    /// The code serialization_failure.
    private static let keysChanged = "40001"

    private func tryPutInTurn(_ jobs: [FleetAcceptance]) async throws(PostgresError) -> [JobID: EnqueueResult]
    {
        let round = beginAcceptance()
        defer { endAcceptance(round) }
        acceptSlot = heads.job
        let (slot, sent, statementTimeout) = (heads.job, steady, options.statementTimeout)
        var ended: [JobChange] = []
        var fresh: [String: FreshWork] = [:]
        var taken: [Int64] = []
        var told: (changes: [FleetChange], results: [PostgresResult]) = ([], [])
        // A job whose COMMIT is not known runs here no more: where it is there after all, its claim is given back.
        defer { for seq in taken { running[seq] = nil } }
        let answers = try await pool.borrow("keep the job") { connection throws(PostgresError) in
            let own = Set(jobs.flatMap(\.scopes))
            let replacing = own.filter { $0.kind == .supersede }
            var scopes = own
            // The jobs behind one that has to go may then go.
            if !replacing.isEmpty {
                for turn in try await turns(of: replacing, connection) { scopes.formUnion(turn.row.scopes) }
            }
            let (made, last) = try await locked(scopes, connection) { connection throws(PostgresError) in
                let turns = try await turns(of: own, connection)
                let kept = prepared(jobs, turns)
                let results = try await connection.run(
                    statementsToAccept(kept, in: slot),
                    within: statementTimeout
                )
                let answers = take(results, kept, slot: slot, sent: sent)
                taken = answers.values.compactMap {
                    if case .running(let token) = $0 { token.position } else { nil }
                }
                let accepted = kept.filter { answers[$0.id]?.isAccepted == true }
                let changes = superseded(by: accepted, turns)
                guard Set(changes.flatMap(\.before.scopes)).isSubset(of: scopes) else {
                    throw PostgresError(
                        .refused,
                        "other jobs have come behind the keys",
                        sqlState: Self.keysChanged
                    )
                }
                var woken: [FleetChange] = []
                if !changes.isEmpty {
                    let found = try await connection.run(
                        [neighbours(changes.map(\.before))],
                        within: statementTimeout
                    )
                    woken = wakes(read(found[0], FleetRow.columnCount), changes, now)
                }
                told = try await make(changes + woken, connection)
                var last = [turnsTaken(accepted, slot, results[0])]
                if !changes.isEmpty { last.append(turnsLeft(changes)) }
                return ((answers, changes, woken), last)
            }
            try Self.check(last)
            ended = made.1.filter { $0.after.machine.state.isTerminal }.map { $0.row.report() }
            for change in made.2 { note(change.row, &fresh) }
            taken = []
            return made.0
        }
        if !ended.isEmpty { events.ended(ended) }
        tell(told.changes, told.results, sent: sent, &fresh)
        if !fresh.isEmpty { events.ready(fresh) }
        return answers
    }

    /// Decides how each begins, by the jobs that have its keys.
    private func prepared(_ jobs: [FleetAcceptance], _ turns: [Turn]) -> [FleetAcceptance] {
        var jobs = jobs
        for index in jobs.indices {
            let scopes = jobs[index].scopes
            let ordering = scopes.first { $0.kind == .ordering }?.bytes
            let supersede = scopes.first { $0.kind == .supersede }?.bytes
            let rivals = turns.filter { $0.scope == supersede }
            // Those whose place it takes keep it back no longer.
            let gone = Set(rivals.filter { $0.row.standing.machine.state != .running }.map(\.row.seq))
            let follows = rivals.contains { $0.row.standing.machine.state == .running }
            let route = jobs[index].route
            jobs[index].prepare(
                isBlocked: turns.contains { $0.scope == ordering && !gone.contains($0.row.seq) }
            ) {
                follows ? nil : tokenOfNew(route)
            }
        }
        return jobs
    }

    private func superseded(by jobs: [FleetAcceptance], _ turns: [Turn]) -> [FleetChange] {
        let keys = Set(
            jobs.flatMap(\.scopes).filter { $0.kind == .supersede }.map(\.bytes)
        )
        return turns.compactMap { turn in
            guard keys.contains(turn.scope) else { return nil }
            var after = turn.row.standing
            guard after.machine.supersede(now: now) else { return nil }
            if after.machine.state.isTerminal, after.dropsContent { after.hasBody = false }
            return FleetChange(turn.row, after)
        }
    }

    private func turnsTaken(
        _ jobs: [FleetAcceptance],
        _ slot: Int16,
        _ result: PostgresResult
    ) -> PostgresStatement {
        var seqs: [JobID: Int64] = [:]
        for row in 0..<result.count {
            if let id = result.bytes(row, 0).flatMap(JobID.init(bytes:)) { seqs[id] = result.int64(row, 1) }
        }
        var (scopes, positions): ([[UInt8]], [Int64]) = ([], [])
        for job in jobs {
            for scope in job.scopes {
                scopes.append(scope.bytes)
                positions.append(seqs[job.id] ?? 0)
            }
        }
        return takeTurns(scopes, positions, positions.map { _ in slot })
    }

    func takeTurns(_ scopes: [[UInt8]], _ seqs: [Int64], _ slots: [Int16]) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO \(statements.s).turn(scope, n, seq, slot) SELECT scope, nextval('\(statements.s).turn_number'), seq,
            slot FROM unnest($1::bytea[], $2::bigint[], $3::smallint[]) AS x(scope, seq, slot)
            """,
            [.bytesArray(scopes), .int64s(seqs), .int16s(slots)]
        )
    }

    /// Takes jobs that are over out of their keys.
    func turnsLeft(_ changes: [FleetChange]) -> PostgresStatement {
        PostgresStatement(
            "DELETE FROM \(statements.s).turn WHERE seq = ANY($1::bigint[])",
            [.int64s(changes.filter(\.isEnd).map(\.before.seq))]
        )
    }

    /// Makes changes of jobs that have keys, and lets go whoever waited for them.
    ///
    /// `decide` sees each row as it is under the locks, and whether another job of its ordering key stands before it.
    func changeInTurn(
        _ rows: [FleetRow],
        owing: Bool = false,
        _ decide: (FleetRow, _ isBlocked: Bool) -> FleetChange?
    ) async throws(PostgresError) -> [FleetChange] {
        for _ in 0..<Self.tries {
            do throws(PostgresError) { return try await tryChangeInTurn(rows, owing, decide) } catch {
                guard error.sqlState == Self.keysChanged else { throw error }
            }
        }
        return try await tryChangeInTurn(rows, owing, decide)
    }

    /// Makes changes in the transaction: claims take no lock of a key, and may have come first.
    ///
    /// - Returns: what is to be told once it is committed.
    private func make(
        _ changes: [FleetChange],
        _ connection: PostgresConnection,
        owing: Bool = false
    ) async throws(PostgresError) -> (changes: [FleetChange], results: [PostgresResult]) {
        guard !changes.isEmpty else { return ([], []) }
        let changes = owing ? changes : try await withNotices(changes, connection, isInTurn: true)
        let results = try await connection.run(
            statementsToChange(changes),
            within: options.statementTimeout
        )
        let made = results.prefix(Set(changes.map(\.before.slot)).count).reduce(0) { $0 + $1.count }
        guard made < changes.count else { return (changes, results) }
        throw PostgresError(.refused, "another change of a job came first", sqlState: Self.keysChanged)
    }

    private func tryChangeInTurn(
        _ rows: [FleetRow],
        _ owing: Bool,
        _ decide: (FleetRow, _ isBlocked: Bool) -> FleetChange?
    ) async throws(PostgresError) -> [FleetChange] {
        let scopes = Set(rows.flatMap { $0.scopes })
        let sent = steady
        let round = beginAcceptance()
        defer { endAcceptance(round) }
        var told: (changes: [FleetChange], results: [PostgresResult]) = ([], [])
        return try await pool.borrow("change jobs") { connection throws(PostgresError) in
            let (changes, results) = try await locked(scopes, connection) {
                connection throws(PostgresError) in
                let found = try await connection.run(
                    [present(rows), neighbours(rows)],
                    within: options.statementTimeout
                )
                let seqs = Set(rows.map(\.seq))
                let now = now
                var changes: [FleetChange] = []
                var (scopes, replayed): ([[UInt8]], [FleetRow]) = ([], [])
                for index in 0..<found[0].count {
                    guard let row = try? FleetRow(found[0], index), seqs.contains(row.seq) else { continue }
                    let isBlocked = found[0].bool(index, FleetRow.columnCount) == true
                    guard let change = decide(row, isBlocked) else { continue }
                    changes.append(change)
                    if row.standing.machine.state.isTerminal, !change.after.machine.state.isTerminal {
                        let own = row.scopes.map(\.bytes)
                        scopes += own
                        replayed += own.map { _ in row }
                    }
                }
                let woken = wakes(read(found[1], FleetRow.columnCount), changes, now)
                var last: [PostgresStatement] = []
                told = try await make(changes + woken, connection, owing: owing)
                if !changes.isEmpty { last.append(turnsLeft(changes)) }
                if !replayed.isEmpty {
                    last.append(takeTurns(scopes, replayed.map(\.seq), replayed.map(\.slot)))
                }
                return ((changes, woken), last)
            }
            var fresh: [String: FreshWork] = [:]
            for change in changes.0 + changes.1 { note(change.row, &fresh) }
            tell(told.changes, told.results, sent: sent, &fresh)
            if !fresh.isEmpty { events.ready(fresh) }
            try Self.check(results)
            return changes.0
        }
    }

    /// The rows as they are, and whether an unfinished job of the same ordering key stands before each.
    private func present(_ rows: [FleetRow]) -> PostgresStatement {
        let scopes = rows.map { row in
            row.scopes.first { $0.kind == .ordering }?.bytes
        }
        return PostgresStatement(
            """
            SELECT \(FleetRow.columns), a.scope IS NOT NULL AND EXISTS (SELECT FROM \(s).turn t WHERE t.scope = a.scope
            AND t.seq <> a.seq AND t.n < coalesce((SELECT o.n FROM \(s).turn o WHERE o.scope = a.scope
            AND o.seq = a.seq), 9223372036854775807))
            FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS a(slot, seq, scope)
            \(statements.job(of: "a")) \(statements.lastChange)
            """,
            [.int16s(rows.map(\.slot)), .int64s(rows.map(\.seq)), .optionalBytesArray(scopes)]
        )
    }

    private var s: String { statements.s }

    /// Of each key the jobs that may wait for one of `rows`: of an ordering key the first two, of a supersede key all.
    private func neighbours(_ rows: [FleetRow]) -> PostgresStatement {
        let scopes = Set(rows.flatMap { $0.scopes })
        let ordering = FleetScope.Kind.ordering.rawValue
        return PostgresStatement(
            """
            SELECT \(FleetRow.columns), x.scope, array_to_string(ARRAY(SELECT p.seq FROM \(s).turn o JOIN \(s).turn p
            ON p.scope = o.scope AND p.n < o.n WHERE o.seq = x.seq AND get_byte(o.scope, 0) = \(ordering)
            ORDER BY p.n LIMIT $3), ',') FROM unnest($1::bytea[], $2::int[]) AS k(scope, most), LATERAL (
            SELECT t.scope, t.n, t.seq, t.slot FROM \(s).turn t WHERE t.scope = k.scope ORDER BY t.n LIMIT k.most) x
            \(statements.job(of: "x")) \(statements.lastChange) ORDER BY x.scope, x.n
            """,
            [
                .bytesArray(scopes.map(\.bytes)),
                .int32s(scopes.map { $0.kind == .ordering ? Int32(rows.count + 1) : 1_000 }),
                .int64(Int64(rows.count + 1)),
            ]
        )
    }

    /// The jobs that may go once the changes are made.
    private func wakes(_ turns: [Turn], _ changes: [FleetChange], _ now: Int64) -> [FleetChange] {
        let changed = Set(changes.map(\.before.seq))
        let over = Set(changes.filter(\.isEnd).map(\.before.seq))
        let resting = Set(
            changes.filter {
                $0.before.standing.machine.state == .running && $0.after.machine.state != .running
                    && !$0.isUnclaimed
            }
            .map(\.before.seq)
        )
        var woken: [Int64: FleetChange] = [:]
        for (scope, line) in Dictionary(grouping: turns, by: \.scope) {
            let isOrdering = scope.first == FleetScope.Kind.ordering.rawValue
            guard
                line.contains(where: { isOrdering ? over.contains($0.row.seq) : resting.contains($0.row.seq) }
                )
            else { continue }
            let left = line.filter { !over.contains($0.row.seq) }
            for turn in isOrdering ? Array(left.prefix(1)) : left where !changed.contains(turn.row.seq) {
                guard turn.row.standing.machine.reason == .ordering, turn.before.isSubset(of: over) else {
                    continue
                }
                var after = turn.row.standing
                if after.machine.wake(now: now) { woken[turn.row.seq] = FleetChange(turn.row, after) }
            }
        }
        return Array(woken.values)
    }
}
