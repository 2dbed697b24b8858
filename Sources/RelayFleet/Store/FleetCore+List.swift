import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords

extension FleetCore {
    /// Rows that one look at a list reads at most, of which a page may show few.
    private static let look = 2_000
    /// Milliseconds after which no acceptance is under way any more.
    private static let settled: Int64 = 60_000

    struct Page {
        var rows: [FleetRow] = []
        var next: JobCursor?
        /// The position that was looked at last, and when its job was accepted.
        var last: (seq: Int64, created: Int64)?
    }

    /// A page of the jobs that match, by as few rows as show whether there are more.
    ///
    /// Positions are given before what they are given to is committed: of the oldest first, a page waits for those
    /// before its end that were under way, so that whoever goes on after it misses none.
    func page(
        _ filter: JobFilter,
        _ order: ListOrder,
        _ limit: Int,
        _ cursor: JobCursor?
    ) async throws(StoreError) -> Page {
        guard filter.ids.isEmpty else { return try await listed(filter, order, limit, cursor) }
        let (page, _) = try await look(filter, order, limit, cursor)
        guard order == .oldestFirst, let last = page.last, now - last.created < Self.settled else {
            return page
        }
        let end = steady + options.statementTimeout.saturatedNanoseconds / 1_000_000
        var underWay: String?
        while true {
            var (again, left) = try await look(
                filter,
                order,
                limit,
                cursor,
                to: last.seq,
                besides: underWay ?? ""
            )
            guard left.isEmpty || steady >= end else {
                underWay = left
                try? await loop.sleep(until: loop.currentTime() + 5_000_000)
                continue
            }
            if again.next == nil { again.next = page.next }
            return again
        }
    }

    /// Reads a page, and before it which transactions of `known` are under way: nil asks for none, empty for all that accept
    /// jobs.
    private func look(
        _ filter: JobFilter,
        _ order: ListOrder,
        _ limit: Int,
        _ cursor: JobCursor?,
        to end: Int64 = .max,
        besides known: String? = nil
    ) async throws(StoreError) -> (Page, underWay: String) {
        let holders = filter.holder == nil ? [:] : try await holders()
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
            : isNewest
                ? PostgresStatement(statements.newest, [.int64(start), .int64(Int64(most))])
                : PostgresStatement(statements.oldest, [.int64(start), .int64(Int64(most)), .int64(end)])
        let accepting = known.map { PostgresStatement(statements.accepting, [.text($0)]) }
        let results = try await round("list jobs", [accepting, statement].compactMap(\.self))
        let result = results[results.count - 1]
        var page = Page()
        let underWay = accepting == nil ? "" : results[0].text(0, 0) ?? ""
        for index in 0..<result.count {
            if page.rows.count == limit || FleetRow.isCut(result, index) {
                page.next = page.last.map { JobCursor(position: $0.seq) }
                return (page, underWay)
            }
            page.last = result.int64(index, 1).map { ($0, result.int64(index, 4) ?? 0) }
            guard let row = try? FleetRow(result, index), !isGone(row), filter.matches(row.job()),
                filter.holder.map({ row.isHeld(by: $0, holders) }) ?? true
            else { continue }
            page.rows.append(row)
        }
        if result.count >= most { page.next = page.last.map { JobCursor(position: $0.seq) } }
        if isBySide { page.last = nil }
        return (page, underWay)
    }

    /// The nodes by the numbers of their starts.
    private func holders() async throws(StoreError) -> [Int64: String] {
        let result = try await round(
            "list nodes",
            [PostgresStatement("SELECT generation, name FROM \(statements.s).node")]
        )[0]
        var holders: [Int64: String] = [:]
        for row in 0..<result.count {
            if let generation = result.int64(row, 0) { holders[generation] = result.text(row, 1) }
        }
        return holders
    }

    private func listed(
        _ filter: JobFilter,
        _ order: ListOrder,
        _ limit: Int,
        _ cursor: JobCursor?
    ) async throws(StoreError) -> Page {
        let text = """
            SELECT \(FleetRow.columns(record: FleetRow.bounded(by: "j.seq"))) FROM \(statements.s).job j
            \(statements.lastChange) WHERE j.id = ANY($1::uuid[]) AND j.seq > $2 ORDER BY j.seq
            """
        var (rows, after): ([FleetRow], Int64?) = ([], .min)
        while let start = after {
            let statement = PostgresStatement(text, [.uuids(filter.ids.map(\.bytes)), .int64(start)])
            let result = try await round("list jobs", [statement])[0]
            let end = (0..<result.count).first { FleetRow.isCut(result, $0) }
            rows += all(result, to: end)
            after = end.flatMap { result.int64($0 - 1, 1) }
        }
        rows = rows.filter { !isGone($0) && filter.matches($0.job()) }
        if order == .newestFirst { rows.reverse() }
        if let cursor {
            rows.removeAll { order == .oldestFirst ? $0.seq <= cursor.position : $0.seq >= cursor.position }
        }
        let page = Array(rows.prefix(limit))
        return Page(
            rows: page,
            next: page.count < rows.count ? page.last.map { JobCursor(position: $0.seq) } : nil
        )
    }
}

extension FleetRow {
    /// Whether the node accepted it for a user of its machine, or has it under way.
    fileprivate func isHeld(by node: String, _ holders: [Int64: String]) -> Bool {
        record.submitter?.node.text == node || generation.flatMap { holders[$0] } == node
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
