import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

extension FleetCore {
    func apply(_ order: ActionOrder) async throws(StoreError) -> ActionReport {
        try await promoteDue()
        var report = ActionReport()
        let page = try await page(order.filter, .oldestFirst, order.limit, order.cursor)
        report.next = page.next
        if let scope = order.scope, let next = report.next, next >= scope.last { report.next = nil }
        if order.isDryRun {
            for row in page.rows { report.count(row.job(), order.action, order.filter) }
            return report
        }
        let rows = page.rows.filter { row in
            guard let scope = order.scope else { return true }
            return row.seq <= scope.last.position
                && row.standing.machine.finishedAt.map { $0 <= scope.line } ?? true
        }
        report.matched = rows.count
        let spares = rows.compactMap { row in order.filter.spares(row.job()).map { (row.seq, $0) } }
        for (_, spare) in spares { report.spare(spare) }
        let spared = Set(spares.map(\.0))
        let chosen = rows.filter { !spared.contains($0.seq) }
        let positions = Dictionary(uniqueKeysWithValues: chosen.enumerated().map { ($1.seq, $0) })
        report.expunged += order.action == .retry ? chosen.count { $0.isUnrepeatable } : 0
        let before = Dictionary(uniqueKeysWithValues: chosen.map { ($0.seq, $0.standing.machine.state) })
        let changes = try await change(chosen) { row, isBlocked in
            // One that has had another life since lies outside of the run.
            if let scope = order.scope, row.standing.machine.finishedAt.map({ $0 > scope.line }) == true {
                return nil
            }
            let delay = order.spacing?.delay(of: positions[row.seq] ?? 0)
            return self.applied(order, to: row, isBlocked: isBlocked, delay)
        }
        let cause = JobChange.Cause(order.action, by: order.origin)
        report.changes = changes.sorted { $0.before.seq < $1.before.seq }
            .map { change in
                let row = order.action == .drop ? change.before : change.row
                return row.report(cause, before: before[change.before.seq])
            }
        return report
    }

    private func applied(
        _ order: ActionOrder,
        to row: FleetRow,
        isBlocked: Bool,
        _ delay: Duration?
    ) -> FleetChange? {
        let now = now
        let due = delay.map { StoreClock.advance(now, by: $0) }
        var after = row.standing
        let isOver = after.machine.state.isTerminal
        let isChanged: Bool
        switch order.action {
        case .cancel: isChanged = after.machine.cancel(now: now)
        case .hold: isChanged = after.machine.hold()
        case .release: isChanged = after.machine.release(isBlocked: isBlocked, now: now)
        case .drop: isChanged = after.machine.state != .running
        case .expunge:
            isChanged = isOver && after.hasBodies
            (after.hasBody, after.hasAnswerBody) = (false, false)
            after.machine.touch()
        case .retry where !isOver: isChanged = after.machine.hurry(isBlocked: isBlocked, runAt: due, now: now)
        case .retry:
            isChanged = after.hasBody && after.machine.replay(isBlocked: isBlocked, runAt: due, now: now)
        }
        guard isChanged else { return nil }
        if after.machine.state.isTerminal, !isOver, after.dropsContent { after.hasBody = false }
        var change = FleetChange(row, after)
        change.isDrop = order.action == .drop
        change.action = ActionRecord(order.action, by: order.origin, to: after.machine.state, at: now)
        return change
    }
}

extension FleetRow {
    /// Whether it is over and can have no other life: its body is gone.
    fileprivate var isUnrepeatable: Bool {
        let state = standing.machine.state
        return state.isTerminal && state != .succeeded && !standing.hasBody
    }
}

// MARK: Runs

extension FleetCore {
    func begin(_ run: ActionRun) async throws(StoreError) -> ActionRun? {
        let s = statements.s
        let results = try await round(
            "begin a run",
            [
                PostgresStatement("SELECT number, record FROM \(s).run"),
                PostgresStatement(
                    "SELECT nextval('\(s).run_number'), (SELECT coalesce(max(seq), 0) FROM \(s).job), \(statements.now)"
                ),
            ]
        )
        guard read(results[0]).count(where: { $0.state == .running }) < ActionRun.mostRunning else {
            return nil
        }
        var run = run
        run.number = results[1].int64(0, 0) ?? 0
        run.scope = ActionRun.Scope(
            last: JobCursor(position: results[1].int64(0, 1) ?? 0),
            line: results[1].int64(0, 2) ?? now
        )
        run.version = 1
        _ = try await write(
            "begin a run",
            [
                PostgresStatement(
                    "INSERT INTO \(s).run(number, record) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    [.int64(run.number), .bytes(run.sealed)]
                )
            ]
        )
        return run
    }

    private func read(_ result: PostgresResult) -> [ActionRun] {
        (0..<result.count).compactMap { index in
            guard let number = result.int64(index, 0), let record = result.bytes(index, 1) else { return nil }
            return (try? ActionRun(sealed: record, number)) ?? .unreadable(number)
        }
    }

    func runs() async throws(StoreError) -> [ActionRun] {
        let results = try await round(
            "read the runs",
            [PostgresStatement("SELECT number, record FROM \(statements.s).run ORDER BY number")]
        )
        return read(results[0])
    }

    private func run(_ number: Int64) async throws(StoreError) -> ActionRun? {
        let results = try await round(
            "read a run",
            [
                PostgresStatement(
                    "SELECT number, record FROM \(statements.s).run WHERE number = $1",
                    [.int64(number)]
                )
            ]
        )
        return read(results[0]).first
    }

    /// Puts the run in the place of `old`, unless another node has changed it.
    private func replace(_ old: ActionRun, _ run: ActionRun) async throws(StoreError) -> Bool {
        let s = statements.s
        // One whose reply was lost finds its own record.
        let results = try await write(
            "keep a run",
            [
                PostgresStatement(
                    "UPDATE \(s).run SET record = $2 WHERE number = $1 AND record IN ($2, $3)",
                    [.int64(run.number), .bytes(run.sealed), .bytes(old.sealed)]
                )
            ]
        )
        return results[0].affected > 0
    }

    func advance(
        _ number: Int64,
        by step: RunStep
    ) async throws(StoreError) -> RunAdvance? {
        guard let old = try await run(number), old.state == .running else { return nil }
        // An action finds nothing to do on a job that has had it: a page that two nodes act on has the effect of one.
        var report = try await apply(old.order(step))
        var run = old
        run.add(report, at: now)
        if try await !replace(old, run) {
            // Another node has counted the page; the jobs that this one has changed are still to be counted.
            guard report.changed > 0, let counted = try await self.run(number) else { return nil }
            let changes = report.changes
            report = ActionReport()
            report.changes = changes
            run = try await revise(counted) {
                $0.count.add(report)
                $0.count.matched = max($0.count.matched, $0.count.changed)
            }
        }
        try await forgetRuns()
        return RunAdvance(run, report)
    }

    /// Changes the record of a run, whoever else does so at the same time.
    private func revise(
        _ run: ActionRun,
        _ change: (inout ActionRun) -> Void
    ) async throws(StoreError) -> ActionRun {
        var old = run
        while true {
            var run = old
            change(&run)
            run.version += 1
            if try await replace(old, run) { return run }
            guard let other = try await self.run(run.number) else { return run }
            old = other
        }
    }

    func end(
        _ number: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?
    ) async throws(StoreError) -> ActionRun? {
        while true {
            guard let old = try await run(number) else { return nil }
            var run = old
            run.end(state, by: by, failure: failure, at: now)
            if try await replace(old, run) {
                try await forgetRuns()
                return run
            }
        }
    }

    private func forgetRuns() async throws(StoreError) {
        let forgotten = try await runs().forgotten
        guard !forgotten.isEmpty else { return }
        _ = try await round(
            "forget runs",
            [
                PostgresStatement(
                    "DELETE FROM \(statements.s).run WHERE number = ANY($1::bigint[])",
                    [.int64s(forgotten)]
                )
            ]
        )
    }
}
