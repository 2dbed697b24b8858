import RelayCore
import RelayPosix

/// A connection that only reads; belongs to the reading thread.
final class StoreReader {
    let database: Database
    let shared: StoreShared
    private var names: [Int64: String] = [:]

    /// What a read may take: longer ones would hold back the writer's checkpoints.
    private static let patience: Duration = .milliseconds(100)
    /// A machine that is busy with other things makes reads late that are not long.
    private static let tries = 5

    init(_ path: String, shared: StoreShared) throws(StoreError) {
        database = try Database(path, readOnly: true)
        try database.execute("PRAGMA mmap_size = 0; PRAGMA cache_size = -4096; PRAGMA query_only = ON")
        self.shared = shared
    }

    /// Reads from one state of the store; from a later one when that took too long.
    func read<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        for _ in 1..<Self.tries {
            do throws(StoreError) {
                return try readOnce(body)
            } catch  where error.code == .slow {}
        }
        return try readOnce(body)
    }

    private func readOnce<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try database.bounded(Self.patience) { () throws(StoreError) in
                try database.statement("BEGIN").run()
                defer { try? database.statement("COMMIT").run() }
                return try body()
            }
        } catch {
            if error.code == .corrupt { shared.countCorrupt() }
            throw error
        }
    }

    func job(_ id: JobID) throws(StoreError) -> StoredJob? {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return nil }
            guard let row = try database.jobRow(seq), row.id == id else {
                throw .damaged("the state", "\(id)")
            }
            let record = try database.record(seq)
            guard record.id == id else { throw .damaged("the record", "\(id)") }
            return row.job(record, shared.timeline)
        }
    }

    func jobs(
        _ filter: JobFilter,
        _ order: ListOrder,
        _ limit: Int,
        _ after: JobCursor?
    ) throws(StoreError) -> JobPage {
        try read { () throws(StoreError) in
            var query = JobQuery(database: database, filter: filter, order: order, after: after)
            query.names = try routeNames()
            query.deadline = SystemClock.monotonic() + 50_000_000
            return try query.page(limit: limit, timeline: shared.timeline)
        }
    }

    /// What a bulk action would match; those that are damaged it would not.
    func count(
        _ filter: JobFilter,
        limit: Int,
        after cursor: JobCursor?
    ) throws(StoreError) -> ActionReport {
        try read { () throws(StoreError) in
            var query = JobQuery(database: database, filter: filter, order: .oldestFirst, after: cursor)
            query.names = try routeNames()
            query.skipsDamaged = true
            query.deadline = SystemClock.monotonic() + 50_000_000
            let page = try query.page(limit: limit, timeline: shared.timeline)
            var report = ActionReport()
            report.matched = page.jobs.count
            report.spared = page.jobs.count { filter.spares($0) }
            report.next = page.next
            return report
        }
    }

    func body(of id: JobID) throws(StoreError) -> StoredBody? {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return nil }
            return try database.payload(seq).body
        }
    }

    func answer(of id: JobID) throws(StoreError) -> StoredAnswer? {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return nil }
            return try database.answer(seq)
        }
    }

    func attempts(of id: JobID, after number: Int, limit: Int) throws(StoreError) -> [JobAttemptRecord] {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return [] }
            let select = try database.statement(
                "SELECT key, record FROM attempt WHERE key > ? AND key <= ? ORDER BY key LIMIT ?"
            )
            select.bind(1, AttemptKey.make(seq, max(0, number)))
            select.bind(2, AttemptKey.make(seq, .max))
            select.bind(3, Int64(limit))
            defer { select.reset() }
            var found: [JobAttemptRecord] = []
            while try select.step() {
                guard let attempt = try? JobAttemptRecord(sealed: select.bytes(1), at: select.int(0)) else {
                    throw .damaged("an attempt", "\(id)")
                }
                found.append(attempt)
            }
            return found
        }
    }

    func counters(at moment: JobMoment) throws(StoreError) -> JobCounters {
        try read { () throws(StoreError) in
            let names = try routeNames()
            var counters = JobCounters()
            let select = try database.statement("SELECT route, state, minute, n FROM tally")
            defer { select.reset() }
            while try select.step() {
                guard let name = names[select.int(0)],
                    let state = JobState(rawValue: UInt8(clamping: select.int(1)))
                else { continue }
                counters.add(
                    JobCounters.Group(route: name, state: state),
                    count: Int(select.int(3)),
                    minute: select.int(2),
                    nowMinute: moment.wall / 60_000
                )
            }
            return counters
        }
    }

    func nextDue(_ route: String) throws(StoreError) -> Int64? {
        try read { () throws(StoreError) in
            let select = try database.statement("SELECT id FROM route WHERE name = ?")
            select.bind(1, route)
            defer { select.reset() }
            guard try select.step() else { return nil }
            return try database.nextDue(select.int(0)).map { shared.timeline.wall(ofLine: $0) }
        }
    }

    func routeNames() throws(StoreError) -> [Int64: String] {
        let select = try database.statement("SELECT id, name FROM route WHERE id > ?")
        select.bind(1, names.keys.max() ?? 0)
        defer { select.reset() }
        while try select.step() { names[select.int(0)] = select.text(1) }
        return names
    }
}
