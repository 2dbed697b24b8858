import RelayBase
import RelayJobs
import RelayPostgres

/// The rings: which slot takes what comes, and the emptying of those whose time is over.
///
/// Any node does it; a lock of the transaction lets one at a time. A slot that cannot be emptied is passed over, and the
/// present one grows.
extension FleetCore {
    private static let readyTurn: Int64 = 10_000
    private static let tallyTurn: Int64 = 30_000
    /// Milliseconds of a slot of jobs at least.
    private static let leastJobTurn: Int64 = 60_000
    /// Jobs that are copied to the kept slot by one statement.
    private static let carried = 500

    private var s: String { statements.s }

    func turnRings() async throws(StoreError) {
        let rings = try await round(
            "look at the rings",
            [PostgresStatement("SELECT name, head, \(statements.now) - turned FROM \(s).ring")]
        )[0]
        takeRings(rings)
        for row in 0..<rings.count {
            guard let age = rings.int64(row, 2) else { continue }
            switch rings.text(row, 0) {
            case "ready"? where age > Self.readyTurn: try await turnReady()
            case "tally"? where age > Self.tallyTurn: try await turnTally()
            case "job"? where age > jobTurn: try await turnJobs()
            default: break
            }
        }
    }

    private var jobTurn: Int64 {
        max(
            Self.leastJobTurn,
            retention.succeeded.saturatedNanoseconds / 1_000_000 / Int64(statements.schema.slots.job - 4)
        )
    }

    /// The statements that empty a slot if nothing is in it that counts, and make it the head.
    ///
    /// - Returns: whether it was; not when somebody holds a lock on it, or another node is at it.
    private func turn(
        _ ring: String,
        to slot: Int,
        from head: Int16,
        _ tables: [String],
        before: [String] = [],
        unless isNeeded: String
    ) async throws(StoreError) -> Bool {
        let names = tables.map { "\(s).\($0)_\(slot)" }.joined(separator: ", ")
        do throws(PostgresError) {
            let statementTimeout = options.statementTimeout
            return try await pool.borrow("empty a slot") { connection throws(PostgresError) in
                do throws(PostgresError) {
                    let results = try await connection.run(
                        [
                            PostgresStatement("BEGIN"),
                            PostgresStatement("SET LOCAL lock_timeout = '100ms'"),
                            PostgresStatement(
                                "SELECT pg_try_advisory_xact_lock(hashtextextended('\(ring)', 1))"
                            ),
                            PostgresStatement("LOCK TABLE \(names) IN ACCESS EXCLUSIVE MODE"),
                            PostgresStatement("SELECT \(isNeeded)"),
                        ],
                        within: statementTimeout
                    )
                    let mayEmpty = results[2].bool(0, 0) == true && results[4].bool(0, 0) == false
                    let last =
                        mayEmpty
                        ? before.map { PostgresStatement($0) } + [
                            PostgresStatement("TRUNCATE \(names)"),
                            PostgresStatement(
                                "UPDATE \(s).ring SET head = $1, turned = \(statements.now) WHERE name = $2 AND head = $3",
                                [.int16(Int16(slot)), .text(ring), .int16(head)]
                            ),
                        ] : []
                    _ = try await connection.run(
                        last + [PostgresStatement("COMMIT")],
                        within: statementTimeout
                    )
                    return mayEmpty
                } catch {
                    if !connection.isOver {
                        _ = try await connection.run(
                            [PostgresStatement("ROLLBACK")],
                            within: statementTimeout
                        )
                    }
                    throw error
                }
            }
        } catch {
            // Somebody reads it, or writes to it at this moment.
            if error.sqlState == "55P03" || error.sqlState == "40P01" { return false }
            throw StoreError("empty a slot", error)
        }
    }

    private func turnReady() async throws(StoreError) {
        for step in 1..<statements.schema.slots.ready {
            let slot = (Int(heads.ready) + step) % statements.schema.slots.ready
            let isNeeded = "EXISTS (SELECT FROM \(s).ready_\(slot) r WHERE \(statements.isGood("r")))"
            if try await turn("ready", to: slot, from: heads.ready, ["ready"], unless: isNeeded) {
                turn { $0.ready = Int16(slot) }
                break
            }
        }
        _ = try await round(
            "forget entries",
            [
                PostgresStatement(
                    """
                    DELETE FROM \(s).ready_\(FleetSchema.earlySlot) r WHERE NOT (\(statements.isGood("r")))
                    """
                )
            ]
        )
    }

    private func turnTally() async throws(StoreError) {
        let next = (Int(heads.tally) + 1) % statements.schema.slots.tally
        let goneMinute = goneSucceeded / 60_000 - 2
        let sums = """
            WITH d AS (DELETE FROM \(s).tally_\(FleetSchema.sumSlot) RETURNING route, party, state, minute, delta),
            t AS (SELECT * FROM d UNION ALL SELECT route, party, state, minute, delta FROM \(s).tally_\(next))
            INSERT INTO \(s).tally_\(FleetSchema.sumSlot)(k, route, party, state, minute, delta)
            SELECT \(FleetSchema.sumSlot), route, party, state, minute, sum(delta) FROM t
            WHERE state <> 5 OR minute > \(goneMinute)
            GROUP BY route, party, state, minute HAVING sum(delta) <> 0
            """
        if try await turn("tally", to: next, from: heads.tally, ["tally"], before: [sums], unless: "false") {
            turn { $0.tally = Int16(next) }
        }
    }

    private func turnJobs() async throws(StoreError) {
        let slot = (Int(heads.job) + 1) % statements.schema.slots.job
        while try await carry(slot) {}
        let isNeeded = """
            EXISTS (SELECT FROM \(s).job_\(slot) j \(statements.lastChange)
            WHERE coalesce(c.state, j.state) < 5 OR coalesce(c.state, j.state) IN (6, 7, 8)
            OR coalesce(c.state, j.state) = 5 AND c.at > \(goneSucceeded))
            OR EXISTS (SELECT FROM \(s).piece_\(slot) p JOIN \(s).job j ON j.pieces = p.body
            WHERE j.slot NOT IN (\(slot), \(FleetSchema.keptSlot)))
            """
        if try await turn("job", to: slot, from: heads.job, ["job", "change", "piece"], unless: isNeeded) {
            turn { $0.job = Int16(slot) }
        }
    }

    /// Copies to the kept slot some of the jobs that outlive theirs.
    ///
    /// - Returns: whether there may be more.
    private func carry(_ slot: Int) async throws(StoreError) -> Bool {
        let result = try await round(
            "look for jobs that stay",
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM \(s).job_\(slot) j \(statements.lastChange)
                    WHERE coalesce(c.state, j.state) IN (0, 1, 3, 4, 6, 7, 8) LIMIT \(Self.carried)
                    """
                )
            ]
        )[0]
        let rows = all(result).filter { !isGone($0) && $0.standing.machine.state != .running }
        guard !rows.isEmpty else { return false }
        let (slots, seqs) = (PostgresValue.int16s(rows.map(\.slot)), PostgresValue.int64s(rows.map(\.seq)))
        let kept = FleetSchema.keptSlot
        // The change that says so is the fence: of a job that somebody changes at this moment nothing is copied.
        let results = try await round(
            "copy jobs that stay",
            [
                PostgresStatement(
                    """
                    WITH a AS (SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::int[]) AS a(slot, seq, n)),
                    m AS (INSERT INTO \(s).change(slot, seq, n, at, state, standing)
                    SELECT slot, seq, n + 1, \(statements.now), \(FleetRow.movedState), '' FROM a
                    ON CONFLICT (seq, n, slot) DO NOTHING RETURNING slot, seq, n),
                    j AS (INSERT INTO \(s).job(slot, seq, id, route, created, party, state, standing, record, body,
                    file, pieces, attempts)
                    SELECT \(kept), j.seq, id, route, created, party, j.state, standing, record, body, file, pieces, attempts
                    FROM \(s).job j JOIN m ON j.slot = m.slot AND j.seq = m.seq),
                    c AS (INSERT INTO \(s).change(slot, seq, n, at, state, generation, token, upstream, standing, attempts,
                    action, head, body, pieces) SELECT \(kept), c.seq, c.n, at, state, generation, token, upstream,
                    standing, attempts, action, head, body, pieces FROM \(s).change c JOIN m ON c.slot = m.slot AND c.seq = m.seq
                    WHERE c.n < m.n),
                    r AS (INSERT INTO \(s).ready(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
                    SELECT \(FleetSchema.earlySlot), route, party, urgency, due, r.seq, r.n, \(kept), standing, minute,
                    state FROM \(s).ready r JOIN m ON r.slot = m.slot AND r.seq = m.seq WHERE r.n = m.n - 1),
                    d AS (INSERT INTO \(s).deferred(due, seq, n, slot, route, party, urgency, standing, minute, state)
                    SELECT due, d.seq, d.n, \(kept), route, party, urgency, standing, minute, state
                    FROM \(s).deferred d JOIN m ON d.slot = m.slot AND d.seq = m.seq WHERE d.n = m.n - 1),
                    p AS (INSERT INTO \(s).piece(slot, body, n, generation, bytes)
                    SELECT \(kept), p.body, p.n, p.generation, p.bytes FROM \(s).piece p WHERE p.slot <> \(kept)
                    AND p.body IN (SELECT j.pieces FROM \(s).job j JOIN m ON j.slot = m.slot AND j.seq = m.seq UNION
                    SELECT c.pieces FROM \(s).change c JOIN m ON c.slot = m.slot AND c.seq = m.seq)),
                    e AS (UPDATE \(s).expiry e SET slot = \(kept) FROM m WHERE e.slot = m.slot AND e.seq = m.seq),
                    t AS (UPDATE \(s).turn t SET slot = \(kept) FROM m WHERE t.slot = m.slot AND t.seq = m.seq)
                    SELECT seq FROM m
                    """,
                    [slots, seqs, .int32s(rows.map(\.n))]
                )
            ]
        )
        deferredFloor = .min
        return results[0].count > 0 && result.count == Self.carried
    }
}
