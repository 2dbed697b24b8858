import RelayCore
import RelayPosix

/// Walks jobs in the order of their positions along the narrowest index a filter allows.
struct JobQuery {
    let database: Database
    let filter: JobFilter
    let order: ListOrder
    let after: JobCursor?
    var names: [Int64: String] = [:]
    /// Whether damaged records are passed over instead of ending the walk.
    var skipsDamaged = false
    /// Steady nanoseconds from which a page is short rather than late.
    var deadline = Int64.max
    /// Rows looked at for one page; a page that ends here is short and has a cursor.
    static let rowLimit = 2_000

    init(database: Database, filter: JobFilter, order: ListOrder, after: JobCursor?) {
        self.database = database
        self.filter = filter
        self.order = order
        self.after = after
    }

    func page(limit: Int, timeline: JobTimeline) throws(StoreError) -> JobPage {
        var page = JobPage()
        guard limit > 0 else { return page }
        if !filter.ids.isEmpty { return try pageOfIDs(limit: limit, timeline: timeline) }
        let positions = try positions()
        for (index, position) in positions.enumerated() {
            if let job = try job(position, timeline) { page.jobs.append(job) }
            let isLate = index % 16 == 15 && SystemClock.monotonic() > deadline
            if page.jobs.count == limit || isLate,
                index + 1 < positions.count || positions.count == Self.rowLimit
            {
                page.next = JobCursor(position: position)
                return page
            }
        }
        if positions.count == Self.rowLimit {
            page.next = JobCursor(position: positions[positions.count - 1])
        }
        return page
    }

    private func pageOfIDs(limit: Int, timeline: JobTimeline) throws(StoreError) -> JobPage {
        var page = JobPage()
        var found: [Int64] = []
        for id in Set(filter.ids) {
            let select = try database.statement("SELECT seq FROM job WHERE id = ?")
            select.bind(1, id.bytes)
            defer { select.reset() }
            if try select.step() { found.append(select.int(0)) }
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

    /// The next rows to look at, at most `rowLimit`.
    private func positions() throws(StoreError) -> [Int64] {
        let direction = order == .oldestFirst ? ("seq > ?1", "ASC") : ("seq < ?1", "DESC")
        let start = after?.position ?? (order == .oldestFirst ? .min : .max)
        let source: String
        var key: Int64?
        if filter.label != nil {
            source = "label WHERE label = ?3 AND"
        } else if filter.states.count == 1, let state = filter.states.first,
            [0, 4, 6, 7, 8].contains(state.rawValue)
        {
            source = "job WHERE side = ?3 AND"
            key = Int64(state.rawValue)
        } else if filter.states == [.running] {
            source = "job INDEXED BY job_running WHERE state = 2 AND"
        } else {
            source = "job WHERE"
        }
        let select = try database.statement(
            text: "SELECT seq FROM \(source) \(direction.0) ORDER BY seq \(direction.1) LIMIT ?2"
        )
        select.bind(1, start)
        select.bind(2, Int64(Self.rowLimit))
        if let label = filter.label { select.bind(3, label) } else if let key { select.bind(3, key) }
        return try select.numbers()
    }

    private func job(_ position: Int64, _ timeline: JobTimeline) throws(StoreError) -> StoredJob? {
        do throws(StoreError) {
            guard let row = try database.jobRow(position), matches(row) else { return nil }
            let job = row.job(try database.record(position), timeline)
            return filter.matches(job) ? job : nil
        } catch {
            guard skipsDamaged, error.code == .corrupt else { throw error }
            return nil
        }
    }

    /// What the row alone can tell, before the record is read.
    private func matches(_ row: JobRow) -> Bool {
        let machine = row.machine
        return (filter.states.isEmpty || filter.states.contains(machine.state))
            && (filter.route == nil || filter.route == names[row.route] || names[row.route] == nil)
            && (filter.failureKind == nil || filter.failureKind == machine.failureKind)
            && (filter.failureStatus == nil || filter.failureStatus == machine.failureStatus)
            && (filter.reason == nil || filter.reason == machine.reason)
            && (filter.end == nil || filter.end == machine.end)
            && (filter.user == nil || filter.user == row.user)
            && (filter.createdFrom.map { row.created >= $0 } ?? true)
            && (filter.createdBefore.map { row.created < $0 } ?? true)
    }
}

extension Database {
    func jobRow(_ seq: Int64) throws(StoreError) -> JobRow? {
        let select = try statement(text: Self.selectRow)
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else { return nil }
        guard let row = JobRow(select) else { throw .damaged("the state", "number \(seq)") }
        return row
    }

    private static let selectRow = "SELECT \(JobRow.columns) FROM job WHERE seq = ?"

    func seq(of id: JobID) throws(StoreError) -> Int64? {
        let select = try statement("SELECT seq FROM job WHERE id = ?")
        select.bind(1, id.bytes)
        defer { select.reset() }
        return try select.step() ? select.int(0) : nil
    }
}
