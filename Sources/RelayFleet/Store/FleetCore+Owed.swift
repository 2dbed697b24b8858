import RelayBase
import RelayJobs
import RelayPostgres

/// Notices that are owed: they could not be made with the endings that they tell of.
extension FleetCore {
    private var s: String { statements.s }

    /// Makes some of the notices that are owed, where this node can.
    func makeOwedNotices(_ report: inout SweepReport) async throws(StoreError) {
        let results = try await round(
            "look for notices",
            [
                // Once for each way through them.
                PostgresStatement(
                    "SELECT CASE WHEN $1 = 0 THEN (SELECT count(*) FROM \(s).owed) END",
                    [.int64(owedCursor)]
                ),
                // Of jobs that are gone.
                PostgresStatement(
                    """
                    DELETE FROM \(s).owed o WHERE seq = ANY (ARRAY(SELECT seq FROM \(s).owed WHERE seq > $1 ORDER BY seq
                    LIMIT \(Self.swept))) AND NOT EXISTS (SELECT FROM \(s).job j WHERE j.seq = o.seq) RETURNING seq
                    """,
                    [.int64(owedCursor)]
                ),
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (SELECT seq FROM \(s).owed WHERE seq > $1 ORDER BY seq
                    LIMIT \(Self.swept)) o, LATERAL (SELECT * FROM \(s).job j WHERE j.seq = o.seq OFFSET 0) j
                    \(statements.lastChange) ORDER BY j.seq
                    """,
                    [.int64(owedCursor)]
                ),
            ]
        )
        if let count = results[0].int64(0, 0) { facts.owedNotices = Int(count) }
        loseNotices(
            of: (0..<results[1].count).map { "number \(results[1].int64($0, 0) ?? 0) of the database" }
        )
        let rows = all(results[2])
        owedCursor = results[2].count < Self.swept ? 0 : rows.last?.seq ?? 0
        var made = 0
        var stale: [FleetRow] = []
        for row in rows {
            if row.standing.machine.isNoticeOwed {
                if try await makeOwedNotice(of: row) { made += 1 }
            } else if try await !restoreNotice(of: row) {
                stale.append(row)
            }
        }
        try await forget(stale)
        if made > 0, results[2].count == Self.swept { report.hasMore = true }
    }

    /// - Returns: whether it is owed no more.
    private func makeOwedNotice(of row: FleetRow) async throws(StoreError) -> Bool {
        var told = FleetChange(row, row.standing)
        switch events.notices.wish(row.record.route, row.standing.machine.state) {
        case .owed: return false
        case .nothing: told.after.machine.noticeWaived()
        case .notice(let extent):
            let results = try await round("read a job", reads(of: row, extent))
            guard let notice = events.notices.make(whole(told, extent, results)) else { return false }
            told.tell(acceptance(notice, try await number(of: notice.record.route)))
        }
        told.after.machine.touch()
        let made = try await changeEach([row]) { found, _ in
            guard found.n == row.n, found.slot == row.slot else { return nil }
            return told
        }
        tellRefused(made)
        facts.owedNotices = max(0, facts.owedNotices - made.changes.count)
        return !made.changes.isEmpty
    }

    /// A notice that the server refuses stays owed; why is said once.
    private func tellRefused(_ made: Made) {
        guard let (row, error) = made.refused.first, refusedNotice != error.message else { return }
        refusedNotice = error.message
        events.notice("the notice of job \(row.id) stays owed (delivery.notify): \(error.message)")
    }

    /// The job stands in the table of those that owe a notice, and its last change says nothing of it: a version has made that
    /// which knows of none.
    ///
    /// - Returns: false where it does not owe any.
    private func restoreNotice(of row: FleetRow) async throws(StoreError) -> Bool {
        guard row.standing.machine.state.isTerminal, !row.standing.machine.notifies else { return false }
        let results = try await round("read a job", [standings(at: row)])
        guard let last = marked(row, results[0])?.machine, last.isNoticeOwed,
            last.finishedAt == row.standing.machine.finishedAt
        else { return false }
        let made = try await changeEach([row]) { found, _ in found.n == row.n ? untold(found, last) : nil }
        tellRefused(made)
        return true
    }

    /// Strikes jobs off the table that owe no notice, unless they have changed since.
    private func forget(_ rows: [FleetRow]) async throws(StoreError) {
        guard !rows.isEmpty else { return }
        _ = try await round(
            "forget notices",
            [
                PostgresStatement(
                    """
                    DELETE FROM \(s).owed o USING unnest($1::smallint[], $2::bigint[], $3::int[]) AS x(slot, seq, n)
                    WHERE o.seq = x.seq AND NOT EXISTS (SELECT FROM \(s).change c WHERE c.slot = x.slot AND c.seq = x.seq
                    AND c.n > x.n)
                    """,
                    [.int16s(rows.map(\.slot)), .int64s(rows.map(\.seq)), .int32s(rows.map(\.n))]
                )
            ]
        )
    }

    /// Has notices owed of jobs that a version has ended which knows of none; of those that it has only touched since they
    /// ended, what was on record before it.
    func oweUntold(_ rows: [FleetRow]) async throws(StoreError) {
        let rows = rows.filter(\.isUnmarked)
        guard !rows.isEmpty else { return }
        let results = try await round("look for notices", rows.map { standings(at: $0) })
        var last: [Int64: (n: Int32, machine: JobStateMachine?)] = [:]
        for (row, result) in zip(rows, results) { last[row.seq] = (row.n, marked(row, result)?.machine) }
        let made = try await changeEach(rows) { row, _ in
            guard let (n, machine) = last[row.seq], row.n == n else { return nil }
            return untold(row, machine)
        }
        tellRefused(made)
    }

    /// `last` is what was on record of the job's notices before a version left them out.
    private func untold(_ row: FleetRow, _ last: JobStateMachine?) -> FleetChange? {
        guard row.standing.machine.state.isTerminal, !row.standing.machine.notifies else { return nil }
        var after = row.standing
        if let last, last.finishedAt == after.machine.finishedAt {
            (after.machine.notifies, after.machine.notices) = (true, last.notices)
            after.machine.isNoticeOwed = last.isNoticeOwed
        } else {
            after.machine.notices = last.map { $0.notices - ($0.isNoticeOwed ? 1 : 0) } ?? 0
            after.machine.oweNotice()
        }
        after.machine.touch()
        return FleetChange(row, after)
    }
}
