import RelayBase
import RelayJobs
import RelayPostgres

extension FleetCore {
    func sweep(_ retention: Retention, limit: Int) async throws(StoreError) -> SweepReport {
        self.retention = retention
        var report = SweepReport()
        try await promoteDue()
        func before(_ age: Duration) -> Int64 {
            now.subtractingSaturating(age.saturatedNanoseconds / 1_000_000)
        }
        goneSucceeded = max(goneSucceeded, before(retention.succeeded))
        goneOthers = max(goneOthers, before(retention.dead))
        try await expire(limit, &report)
        try await walkKept(limit, &report)
        try await walkSides(limit, &report)
        try await makeOwedNotices(&report)
        try await forgetKeys(limit, &report)
        try await turnRings()
        try await lookForRoutes(limit, &report)
        return report
    }

    /// Ends jobs whose time ran out while they waited.
    private func expire(_ limit: Int, _ report: inout SweepReport) async throws(StoreError) {
        let s = statements.s
        let results = try await round(
            "look for expired jobs",
            [
                // Of jobs that are gone, which would stand before all others.
                PostgresStatement(
                    """
                    DELETE FROM \(s).expiry e WHERE at <= \(statements.present) AND NOT EXISTS (
                    SELECT FROM \(s).job j WHERE j.slot = e.slot AND j.seq = e.seq)
                    """
                ),
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (SELECT * FROM \(s).expiry WHERE at <= \(statements.present)
                    ORDER BY at LIMIT $1) e, LATERAL (SELECT * FROM \(s).job j WHERE j.slot = e.slot AND j.seq = e.seq OFFSET 0) j
                    \(statements.lastChange)
                    """,
                    [.int64(Int64(limit))]
                ),
            ]
        )
        let result = results[1]
        guard result.count > 0 else { return }
        let rows = all(result)
        let due = rows.filter { !$0.standing.machine.state.isTerminal }
        var changes = try await expire(due.filter(\.scopes.isEmpty))
        // One by one: the end of each lets the next of its key go, whose time may be over as well.
        for row in due where !row.scopes.isEmpty { changes += try await expire([row]) }
        report.ended += changes.map { $0.row.report() }
        // One that runs is looked at again when it waits.
        let over = Set(
            changes.map(\.before.seq) + rows.filter { $0.standing.machine.state.isTerminal }.map(\.seq)
        )
        _ = try await round(
            "forget expiries",
            [
                PostgresStatement(
                    "DELETE FROM \(s).expiry WHERE seq = ANY($1::bigint[]) AND at <= \(statements.now)",
                    [.int64s(Array(over))]
                )
            ]
        )
        report.hasMore = report.hasMore || over.count == limit
    }

    private func expire(_ rows: [FleetRow]) async throws(StoreError) -> [FleetChange] {
        try await change(rows) { row, _ in
            var after = row.standing
            guard after.machine.expire(now: self.now) else { return nil }
            if after.dropsContent { after.hasBody = false }
            return FleetChange(row, after)
        }
    }

    /// Removes what is over for long enough from the slot that is not emptied as a whole.
    private func walkKept(_ limit: Int, _ report: inout SweepReport) async throws(StoreError) {
        let result = try await round(
            "look at kept jobs",
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (SELECT * FROM \(statements.s).job WHERE slot = $1 AND seq > $2
                    ORDER BY seq LIMIT $3) j \(statements.lastChange) ORDER BY j.seq
                    """,
                    [.int16(Int16(FleetSchema.keptSlot)), .int64(keptCursor), .int64(Int64(limit))]
                )
            ]
        )[0]
        keptCursor = result.count < limit ? 0 : result.int64(result.count - 1, 1) ?? 0
        let rows = all(result)
        try await remove(rows.filter { isGone($0) }, &report)
        try await expunge(rows.filter { !isGone($0) }, &report)
    }

    /// Removes jobs that are over without success for long enough, and the bodies of others.
    private func walkSides(_ limit: Int, _ report: inout SweepReport) async throws(StoreError) {
        let result = try await round(
            "look at ended jobs",
            [
                PostgresStatement(
                    statements.side(isNewest: false, record: "j.record"),
                    [.int16s([6, 7, 8]), .int64(sideCursor), .int64(Int64(limit))]
                )
            ]
        )[0]
        sideCursor = result.count < limit ? 0 : result.int64(result.count - 1, 1) ?? 0
        let rows = all(result)
        try await remove(rows.filter { isGone($0) }, &report)
        try await expunge(rows.filter { !isGone($0) }, &report)
        try await oweUntold(rows.filter { !isGone($0) })
    }

    /// Removes jobs with all that belongs to them; a change that says so is the fence.
    private func remove(_ rows: [FleetRow], _ report: inout SweepReport) async throws(StoreError) {
        guard !rows.isEmpty else { return }
        let dropped = try await change(rows) { row, _ in
            guard row.standing.machine.state.isTerminal else { return nil }
            var change = FleetChange(row, row.standing)
            change.isDrop = true
            return change
        }
        let jobs: [PostgresValue] = [
            .int16s(dropped.map(\.before.slot)), .int64s(dropped.map(\.before.seq)),
        ]
        _ = try await round(
            "remove jobs",
            ["change", "job"]
                .map { table in
                    PostgresStatement(
                        """
                        DELETE FROM \(statements.s).\(table) t USING unnest($1::smallint[], $2::bigint[]) AS x(slot, seq)
                        WHERE t.slot = x.slot AND t.seq = x.seq
                        """,
                        jobs
                    )
                }
        )
        report.removed += dropped.count
    }

    private func expunge(_ rows: [FleetRow], _ report: inout SweepReport) async throws(StoreError) {
        let due = rows.filter { row in
            guard row.standing.hasBodies, let finished = row.standing.machine.finishedAt else { return false }
            return StoreClock.advance(finished, by: retention.bodies) <= now
        }
        let changes = try await change(due) { row, _ in
            var after = row.standing
            guard after.machine.state.isTerminal else { return nil }
            (after.hasBody, after.hasAnswerBody) = (false, false)
            after.machine.touch()
            return FleetChange(row, after)
        }
        report.expunged += changes.count
    }

    private func forgetKeys(_ limit: Int, _ report: inout SweepReport) async throws(StoreError) {
        let s = statements.s
        let results = try await round(
            "forget keys",
            [
                PostgresStatement(
                    """
                    DELETE FROM \(s).key WHERE hash = ANY (ARRAY(SELECT hash FROM \(s).key
                    WHERE until <= \(statements.present) ORDER BY until LIMIT $1)) AND until <= \(statements.now)
                    """,
                    [.int64(Int64(limit))]
                )
            ]
        )
        report.hasMore = report.hasMore || results[0].affected == limit
    }
}
