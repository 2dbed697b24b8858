import RelayBase
import RelayJobs
import RelayPosix
import RelayRecords

/// Walks jobs in the order of their positions along the narrowest index a filter allows.
struct JobQuery {
    let database: Database
    let filter: JobFilter
    let order: ListOrder
    let after: JobCursor?
    var names: [Int64: String] = [:]
    /// Whether damaged records are passed over instead of ending the walk.
    var skipsDamaged = false
    /// Whether dead jobs are told with the upstream that failed last: a look of its own for each.
    var tellsUpstreams = false
    /// Steady nanoseconds from which a page is short rather than late.
    var deadline = Int64.max
    /// Rows looked at for one page; a page that ends here is short and has a cursor.
    static let rowLimit = 2_000
    /// Positions that one look goes over where no narrow index leads to the rows.
    static let span: Int64 = 100_000

    func page(limit: Int, timeline: StoreClock) throws(StoreError) -> JobPage {
        var page = JobPage()
        guard limit > 0 else { return page }
        if !filter.ids.isEmpty { return try pageOfIDs(limit: limit, timeline: timeline) }
        guard var place = try start() else { return page }
        while true {
            let (positions, end) = try positions(beyond: place)
            for (index, position) in positions.enumerated() {
                if let job = try job(position, timeline) { page.jobs.append(job) }
                let isLate = index % 16 == 15 && SystemClock.monotonic() > deadline
                if page.jobs.count == limit || isLate, index + 1 < positions.count || end != nil {
                    page.next = JobCursor(position: position)
                    return page
                }
            }
            page.next = end.map { JobCursor(position: $0) }
            guard let end, page.jobs.isEmpty, deadline < .max, SystemClock.monotonic() < deadline else {
                return page
            }
            place = end
        }
    }

    /// The place before the first row; nil where there is none.
    ///
    /// A cursor that lies far beyond all rows must not be walked from: that would take as long as a page may.
    private func start() throws(StoreError) -> Int64? {
        guard let positions = try database.positions() else { return nil }
        return switch order {
        case .oldestFirst: max(positions.lowerBound - 1, after?.position ?? .min)
        case .newestFirst: min(positions.upperBound + 1, after?.position ?? .max)
        }
    }

    private func pageOfIDs(limit: Int, timeline: StoreClock) throws(StoreError) -> JobPage {
        var page = JobPage()
        var found: [Int64] = []
        for id in Set(filter.ids) {
            if let seq = try database.seq(of: id) { found.append(seq) }
        }
        found.sort(by: order == .oldestFirst ? (<) : (>))
        if let after {
            found.removeAll { order == .oldestFirst ? $0 <= after.position : $0 >= after.position }
        }
        for (index, position) in found.enumerated() {
            if let job = try job(position, timeline) { page.jobs.append(job) }
            if page.jobs.count == limit, index + 1 < found.count {
                page.next = JobCursor(position: position)
                break
            }
        }
        return page
    }

    /// The next rows to look at, at most `rowLimit`, and where to go on; nil at the end.
    private func positions(beyond place: Int64) throws(StoreError) -> (rows: [Int64], end: Int64?) {
        try usualPositions(beyond: place).merged(with: plainPositions(beyond: place), order, Self.rowLimit)
    }

    /// The same of jobs that are not plain.
    private func usualPositions(beyond place: Int64) throws(StoreError) -> JobPositions {
        var conditions: [String] = []
        var (text, number): (String?, Int64?)
        var source = "job"
        var isNarrow = true
        if let label = filter.label {
            (source, text) = ("label", label)
            conditions.append("label = ?4")
        } else if filter.states.count == 1, let state = filter.states.first, state.isRare, filter.route == nil
        {
            number = Int64(state.rawValue)
            conditions.append("side = ?4")
        } else if filter.states == [.running] {
            source = "job INDEXED BY job_lane"
            conditions.append("route IN (SELECT id FROM route) AND lane = 9")
        } else {
            isNarrow = false
            if let route = filter.route {
                guard let known = names.first(where: { $0.value == route })?.key else {
                    return JobPositions()
                }
                number = known
                source = "job INDEXED BY job_route"
                conditions.append("route = ?4")
            }
            if !filter.states.isEmpty { conditions.append("(?6 >> state) & 1") }
            if filter.failureKind != nil { conditions.append("kind = ?5") }
        }
        let isUp = order == .oldestFirst
        let edge = isUp ? place.addingSaturating(Self.span) : place.subtractingSaturating(Self.span)
        conditions.append(isUp ? "seq > ?1" : "seq < ?1")
        if !isNarrow { conditions.append(isUp ? "seq <= ?3" : "seq >= ?3") }
        let select = try database.statement(
            text: """
                SELECT seq FROM \(source) WHERE \(conditions.joined(separator: " AND "))
                ORDER BY seq \(isUp ? "ASC" : "DESC") LIMIT ?2
                """
        )
        select.bind(1, place)
        select.bind(2, Int64(Self.rowLimit))
        if !isNarrow { select.bind(3, edge) }
        if let text { select.bind(4, text) } else if let number { select.bind(4, number) }
        if !isNarrow, let kind = filter.failureKind { select.bind(5, kind.rawValue) }
        if !isNarrow, !filter.states.isEmpty {
            select.bind(6, filter.states.reduce(Int64(0)) { $0 | 1 << Int64($1.rawValue) })
        }
        let rows = try select.numbers()
        if rows.count == Self.rowLimit { return JobPositions(rows: rows, end: rows.last) }
        guard !isNarrow else { return JobPositions(rows: rows) }
        let last = try database.optionalNumber(
            isUp ? "SELECT max(seq) FROM job" : "SELECT min(seq) FROM job"
        )
        let isOver = last.map { isUp ? $0 <= edge : $0 >= edge } ?? true
        return JobPositions(rows: rows, end: isOver ? nil : edge)
    }

    private func job(_ position: Int64, _ timeline: StoreClock) throws(StoreError) -> StoredJob? {
        do throws(StoreError) {
            guard let row = try database.jobRow(position), matches(row) else { return nil }
            var job = row.job(try database.record(position), timeline)
            if filter.upstream != nil || tellsUpstreams && job.state == .dead, job.failureKind != nil {
                job.failureUpstream = try database.upstream(of: job.attempts, at: position)
            }
            return filter.matches(job) ? job : nil
        } catch {
            guard skipsDamaged, error.code == .corrupt else { throw error }
            return nil
        }
    }

    /// The part of the match that the row alone can tell, before the record is read.
    private func matches(_ row: JobRow) -> Bool {
        let machine = row.machine
        return (filter.states.isEmpty || filter.states.contains(machine.state))
            && (filter.route == nil || filter.route == names[row.route] || names[row.route] == nil)
            && (filter.failureKind == nil || filter.failureKind == machine.failureKind)
            && (filter.failureStatus == nil || filter.failureStatus == machine.failureStatus)
            && (filter.upstream == nil || machine.failureKind != nil)
            && (filter.reason == nil || filter.reason == machine.waitReason
                || machine.waitReason == nil && filter.isPaused(machine.state, names[row.route] ?? ""))
            && (filter.end == nil || filter.end == machine.end)
            && (filter.user == nil || filter.user == row.user)
            && (filter.createdFrom.map { row.created >= $0 } ?? true)
            && (filter.createdBefore.map { row.created < $0 } ?? true)
    }
}

extension JobState {
    /// Whether `side` leads to jobs in this state.
    fileprivate var isRare: Bool {
        switch self {
        case .scheduled, .held, .dead, .cancelled, .expired: true
        case .queued, .running, .retrying, .succeeded: false
        }
    }
}

extension Database {
    func jobRow(_ seq: Int64) throws(StoreError) -> JobRow? {
        if let row = try usualRow(seq) { return row }
        return try plainRow(seq)
    }

    /// A job that is not plain.
    func usualRow(_ seq: Int64) throws(StoreError) -> JobRow? {
        let select = try statement(named: "row", "SELECT \(JobRow.columns) FROM job WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else { return nil }
        guard let row = JobRow(select) else { throw .damaged("the state", "number \(seq)") }
        return row
    }

    /// Where an attempt of a job went; nil where its record is not there, or damaged.
    fileprivate func upstream(of number: Int, at seq: Int64) throws(StoreError) -> String? {
        let select = try statement("SELECT key, record FROM attempt WHERE key = ?")
        select.bind(1, AttemptKey.make(seq, number))
        defer { select.reset() }
        guard try select.step() else { return nil }
        return (try? Attempt(sealed: select.bytes(1), at: select.int(0)))?.upstream
    }

    func seq(of id: JobID) throws(StoreError) -> Int64? {
        let select = try statement("SELECT seq FROM id WHERE id = ?")
        select.bind(1, id)
        defer { select.reset() }
        return try select.step() ? select.int(0) : nil
    }
}

/// Jobs to look at, in order, and how far that is all of them.
struct JobPositions {
    var rows: [Int64] = []
    /// Nil where there are no more behind them.
    var end: Int64?

    /// Those of both, as far as both are known, at most `limit`.
    func merged(with other: JobPositions, _ order: ListOrder, _ limit: Int) -> (rows: [Int64], end: Int64?) {
        let isUp = order == .oldestFirst
        var end = [self.end, other.end].compactMap { $0 }.min { isUp ? $0 < $1 : $0 > $1 }
        var rows = (rows + other.rows).sorted { isUp ? $0 < $1 : $0 > $1 }
        if let end { rows.removeAll { isUp ? $0 > end : $0 < end } }
        if rows.count > limit {
            rows.removeSubrange(limit...)
            end = rows.last
        }
        return (rows, end)
    }
}
