import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

extension FleetCore {
    /// Rows that one look at a list reads at most, of which a page may show few.
    private static let look = 2_000

    func row(_ id: JobID) async throws(StoreError) -> FleetRow? {
        let results = try await round(
            "read a job",
            [PostgresStatement(statements.byID, [.uuid(id.bytes)])]
        )
        for index in 0..<results[0].count {
            if let row = try FleetRow(results[0], index), !isGone(row) { return row }
        }
        return nil
    }

    /// The jobs as they are now.
    func rows(_ rows: [FleetRow]) async throws(StoreError) -> [FleetRow] {
        let results = try await round(
            "read jobs",
            [PostgresStatement(statements.bySeq, [.int16s(rows.map(\.slot)), .int64s(rows.map(\.seq))])]
        )
        return all(results[0])
    }

    /// The jobs of a result but for those whose record is damaged, which are counted.
    func all(_ result: PostgresResult) -> [FleetRow] {
        (0..<result.count).compactMap { index in
            do throws(StoreError) { return try FleetRow(result, index) } catch {
                facts.corruptRecords += 1
                return nil
            }
        }
    }

    /// Whether its time in the store is over, though its slot is not emptied yet.
    func isGone(_ row: FleetRow) -> Bool {
        let machine = row.standing.machine
        guard machine.state.isTerminal, let finished = machine.finishedAt else { return false }
        return finished <= (machine.state == .succeeded ? goneSucceeded : goneOthers)
    }

    func job(_ id: JobID) async throws(StoreError) -> StoredJob? { try await row(id)?.job() }

    func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        guard let row = try await row(id) else { return nil }
        let history = try await history(of: row)
        let job = row.job()
        var whole = WholeJob(job, Array(history.attempts.suffix(extent.attempts)))
        whole.actions = history.actions
        if extent.hasAnswer(of: job) {
            whole.answer = history.answer
            whole.hasDamagedAnswer = history.answer == nil
        }
        if extent.hasBodies {
            do throws(StoreError) { whole.body = try await body(of: row) } catch {
                guard error.code == .corrupt else { throw error }
                whole.hasDamagedBody = true
            }
        }
        return whole
    }

    struct History {
        var attempts: [Attempt] = []
        var actions: [ActionRecord] = []
        var answer: StoredAnswer?
    }

    func history(of row: FleetRow) async throws(StoreError) -> History {
        let results = try await round(
            "read a job's history",
            [PostgresStatement(statements.history, [.int16(row.slot), .int64(row.seq)])]
        )
        let result = results[0]
        var history = History()
        for index in 0..<result.count {
            do throws(RecordReader.Damage) {
                if let bytes = result.bytes(index, 1) {
                    history.attempts += try FleetContent.attempts(sealed: bytes, for: row.id)
                }
                if let bytes = result.bytes(index, 2) {
                    for action in try [ActionRecord](sealed: bytes, at: 0) { history.actions.keep(action) }
                }
                if let head = result.bytes(index, 3) {
                    let body = result.bytes(index, 4).flatMap {
                        try? FleetContent.body(sealed: $0, for: row.id)
                    }
                    history.answer = try StoredAnswer(sealedHead: head, body: body, at: 0)
                }
            } catch { facts.corruptRecords += 1 }
        }
        if !row.standing.hasAnswerBody { history.answer?.body = .expunged }
        if !row.standing.hasBody { history.attempts = history.attempts.map(\.unquoted) }
        return history
    }

    func body(of row: FleetRow) async throws(StoreError) -> StoredBody {
        guard row.standing.hasBody else { return .expunged }
        let results = try await round(
            "read a body",
            [PostgresStatement(statements.body, [.int16(row.slot), .int64(row.seq)])]
        )
        guard results[0].count > 0 else { return .expunged }
        return try body(of: row, results[0].bytes(0, 0), results[0].bytes(0, 1))
    }

    /// A page of the jobs that match, by as few rows as show whether there are more.
    func page(
        _ filter: JobFilter,
        _ order: ListOrder,
        _ limit: Int,
        _ cursor: JobCursor?
    ) async throws(StoreError) -> (rows: [FleetRow], next: JobCursor?) {
        guard filter.ids.isEmpty else { return try await listed(filter, order, limit, cursor) }
        let isNewest = order == .newestFirst
        let start = cursor?.position ?? (isNewest ? .max : 0)
        let most = min(Self.look, filter == JobFilter() ? limit + 1 : max(limit + 1, Self.look))
        let sides = filter.states.filter(\.hasSide)
        let isBySide = !filter.states.isEmpty && sides.count == filter.states.count
        let statement =
            isBySide
            ? PostgresStatement(
                statements.side(isNewest: isNewest),
                [.int16s(sides.map { Int16($0.rawValue) }), .int64(start), .int64(Int64(most))]
            )
            : PostgresStatement(
                isNewest ? statements.newest : statements.oldest,
                [.int64(start), .int64(Int64(most))]
            )
        let result = try await round("list jobs", [statement])[0]
        var rows: [FleetRow] = []
        var last: Int64?
        for index in 0..<result.count {
            if rows.count == limit { return (rows, last.map { JobCursor(position: $0) }) }
            last = result.int64(index, 1)
            guard let row = try? FleetRow(result, index), !isGone(row), filter.matches(row.job()) else {
                continue
            }
            rows.append(row)
        }
        return (rows, result.count < most ? nil : last.map { JobCursor(position: $0) })
    }

    private func listed(
        _ filter: JobFilter,
        _ order: ListOrder,
        _ limit: Int,
        _ cursor: JobCursor?
    ) async throws(StoreError) -> (rows: [FleetRow], next: JobCursor?) {
        let statement = PostgresStatement(
            """
            SELECT \(FleetRow.columns) FROM \(statements.s).job j \(statements.lastChange)
            WHERE j.id = ANY($1::uuid[]) ORDER BY j.seq
            """,
            [.uuids(filter.ids.map(\.bytes))]
        )
        var rows = all(try await round("list jobs", [statement])[0]).filter {
            !isGone($0) && filter.matches($0.job())
        }
        if order == .newestFirst { rows.reverse() }
        if let cursor {
            rows.removeAll { order == .oldestFirst ? $0.seq <= cursor.position : $0.seq >= cursor.position }
        }
        let page = Array(rows.prefix(limit))
        return (page, page.count < rows.count ? page.last.map { JobCursor(position: $0.seq) } : nil)
    }
}

extension JobState {
    /// Whether an index leads to the jobs in the state.
    fileprivate var hasSide: Bool {
        switch self {
        case .held, .dead, .cancelled, .expired: true
        case .scheduled, .queued, .running, .retrying, .succeeded: false
        }
    }
}
