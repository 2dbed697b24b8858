import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// Jobs whose rows cannot be read.
extension FleetCore {
    /// The columns that are left of such a row.
    struct Damaged {
        let slot: Int16
        let seq: Int64
        let n: Int32
        let id: JobID
        let route: Int32
        let created: Int64
        let state: Int16
    }

    /// The jobs of a result; those that cannot be read are put aside, so that nothing meets them again.
    func sound(_ result: PostgresResult) async throws(StoreError) -> [FleetRow] {
        var (rows, damaged) = ([FleetRow](), [Damaged]())
        for index in 0..<result.count {
            do throws(StoreError) {
                if let row = try FleetRow(result, index) { rows.append(row) }
            } catch { if let row = Damaged(result, index) { damaged.append(row) } }
        }
        try await putAside(damaged)
        return rows
    }

    /// Ends jobs as damaged: no statement makes them run again, and others of their keys go on.
    func putAside(_ damaged: [Damaged]) async throws(StoreError) {
        guard !damaged.isEmpty else { return }
        facts.corruptRecords += UInt64(damaged.count)
        putAside += UInt64(damaged.count)
        let now = now
        let standings = damaged.map { row in
            var machine = JobStateMachine(
                state: .queued,
                runAt: row.created,
                mayRepeat: false,
                isDated: false
            )
            _ = machine.quarantine(now: now)
            return FleetStanding(machine).sealed(for: row.id)
        }
        let s = statements.s
        _ = try await write(
            "put damaged jobs aside",
            [
                PostgresStatement(
                    """
                    WITH a AS (SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::int[], $4::int[], $5::smallint[],
                    $6::int[], $7::bytea[]) AS a(slot, seq, n, route, state, minute, standing)),
                    l AS (INSERT INTO \(s).change(slot, seq, n, at, state, standing)
                    SELECT slot, seq, n, \(statements.now), \(JobState.dead.rawValue), standing FROM a
                    ON CONFLICT (seq, n, slot) DO NOTHING RETURNING slot, seq),
                    w AS (SELECT a.*, j.party FROM a JOIN l USING (slot, seq) JOIN \(s).job j USING (slot, seq))
                    INSERT INTO \(s).tally(k, route, party, state, minute, delta)
                    SELECT $8::smallint, route, party, state, minute, -1 FROM w UNION ALL
                    SELECT $8::smallint, route, party, \(JobState.dead.rawValue), 0, 1 FROM w
                    """,
                    [
                        .int16s(damaged.map(\.slot)), .int64s(damaged.map(\.seq)),
                        .int32s(damaged.map { $0.n + 1 }), .int32s(damaged.map(\.route)),
                        .int16s(damaged.map(\.state)),
                        .int32s(damaged.map { Int32(clamping: $0.created / 60_000) }),
                        .bytesArray(standings), .int16(heads.tally),
                    ]
                )
            ]
        )
        for row in damaged {
            events.notice(
                "job \(row.id) cannot be read from the database: its row is not what was stored; the job is over as damaged"
            )
        }
        try await passTurns(of: damaged.map(\.seq))
    }

    /// Lets go whoever stands behind such jobs in their keys.
    private func passTurns(of seqs: [Int64]) async throws(StoreError) {
        let s = statements.s
        let result = try await write(
            "let jobs of a key go on",
            [
                PostgresStatement(
                    "SELECT count(*) FROM \(s).turn WHERE seq = ANY($1::bigint[])",
                    [.int64s(seqs)]
                ),
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (SELECT DISTINCT b.slot, b.seq FROM \(s).turn a JOIN \(s).turn b
                    ON b.scope = a.scope AND b.seq <> ALL($1::bigint[]) WHERE a.seq = ANY($1::bigint[])) x
                    \(statements.job(of: "x")) \(statements.lastChange)
                    """,
                    [.int64s(seqs)]
                ),
                PostgresStatement("DELETE FROM \(s).turn WHERE seq = ANY($1::bigint[])", [.int64s(seqs)]),
            ]
        )
        guard result[0].int64(0, 0) ?? 0 > 0 else { return }
        _ = try await change(all(result[1])) { row, isBlocked in
            var after = row.standing
            guard !isBlocked, after.machine.wake(now: self.now) else { return nil }
            return FleetChange(row, after)
        }
    }
}

extension FleetCore.Damaged {
    /// Nil where not even these can be read.
    init?(_ result: PostgresResult, _ row: Int) {
        guard let slot = result.int64(row, 0), let seq = result.int64(row, 1),
            let id = result.bytes(row, 2).flatMap(JobID.init(bytes:)), let route = result.int64(row, 3),
            let created = result.int64(row, 4), let n = result.int64(row, 6), let state = result.int64(row, 7)
        else { return nil }
        self.init(
            slot: Int16(clamping: slot),
            seq: seq,
            n: Int32(clamping: n),
            id: id,
            route: Int32(clamping: route),
            created: created,
            state: Int16(clamping: state)
        )
    }
}
