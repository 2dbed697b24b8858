import RelayBase
import RelayJobs
import RelayPosix
import RelayRecords

/// A connection that only reads; belongs to the reading thread.
final class StoreReader {
    let database: Database
    let shared: StoreShared
    private var names: [Int64: String] = [:]
    /// Where each route's search for its oldest unfinished job goes on.
    private var oldestKnown: [Int64: Int64] = [:]

    private let timeout: Duration
    /// A machine that is busy with other things makes reads late that are not long.
    private static let tries = 5

    init(_ path: String, shared: StoreShared, timeout: Duration) throws(StoreError) {
        database = try Database(path, readOnly: true)
        try database.execute("PRAGMA mmap_size = 0; PRAGMA cache_size = -4096; PRAGMA query_only = ON")
        // The first look opens the log. A look at an empty file in the database's place would have SQLite take the log
        // for a stray one and remove it, and with it the jobs that only the log has.
        try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
        self.shared = shared
        self.timeout = timeout
    }

    /// When a page goes out with what it has: well before its read is given up.
    private var pageEnd: Int64 { SystemClock.monotonic() + (timeout / 2).saturatedNanoseconds }

    /// Reads from one state of the store; from a later one when that took too long.
    func read<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        for _ in 1..<Self.tries {
            do throws(StoreError) {
                return try readOnce(body)
            } catch  where error.code == .slow {}
        }
        do throws(StoreError) {
            return try readOnce(body)
        } catch {
            shared.countError(error)
            throw error
        }
    }

    private func readOnce<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try database.bounded(timeout) { () throws(StoreError) in
                try database.statement("BEGIN").run()
                defer { try? database.statement("COMMIT").run() }
                return try body()
            }
        } catch {
            if error.code == .corrupt { shared.countCorrupt(error) }
            throw error
        }
    }

    func job(_ id: JobID) throws(StoreError) -> StoredJob? {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return nil }
            return try job(id, at: seq)
        }
    }

    func whole(_ id: JobID, _ extent: WholeJob.Extent) throws(StoreError) -> WholeJob? {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return nil }
            let job = try job(id, at: seq)
            return try database.whole(job, extent) { shared.countCorrupt($0) }
        }
    }

    private func job(_ id: JobID, at seq: Int64) throws(StoreError) -> StoredJob {
        guard let row = try database.jobRow(seq), row.id == id else { throw .damaged("the state", "\(id)") }
        let record = try database.record(seq)
        guard record.id == id else { throw .damaged("the record", "\(id)") }
        return row.job(record, shared.timeline)
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
            query.deadline = pageEnd
            query.tellsUpstreams = true
            return try query.page(limit: limit, timeline: shared.timeline)
        }
    }

    /// The counts of the jobs that a bulk action would match; damaged ones it would not.
    func count(_ order: ActionOrder) throws(StoreError) -> ActionReport {
        try read { () throws(StoreError) in
            let filter = order.filter
            var query = JobQuery(database: database, filter: filter, order: .oldestFirst, after: order.cursor)
            query.names = try routeNames()
            query.skipsDamaged = true
            query.deadline = pageEnd
            let page = try query.page(limit: order.limit, timeline: shared.timeline)
            var report = ActionReport()
            for job in page.jobs { report.count(job, order.action, filter) }
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

    func attempts(of id: JobID, after number: Int, limit: Int) throws(StoreError) -> [Attempt] {
        try read { () throws(StoreError) in
            guard let seq = try database.seq(of: id) else { return [] }
            return try database.attempts(of: id, at: seq, after: number, limit: limit)
        }
    }

    func counters(at moment: JobMoment, withDue: Bool) throws(StoreError) -> JobCounters {
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
            counters.notices = max(
                0,
                Int(try database.number("SELECT coalesce(max(v), 0) FROM meta WHERE k = 'notices'"))
            )
            let plain = shared.oldest
            for (number, name) in names {
                guard let minute = counters.oldest[name] else { continue }
                if let oldest = plain[number], (minute..<minute + 60_000).contains(oldest) {
                    counters.oldest[name] = oldest
                } else if let oldest = try oldestScheduled(number, in: minute) {
                    counters.oldest[name] = oldest
                } else {
                    counters.oldest[name] = try oldest(number, in: minute)
                }
                if withDue {
                    let hasScheduled = counters.count(.scheduled, of: name) > 0
                    counters.due[name] = try due(number, plain[number], hasScheduled, at: moment)
                }
                guard counters.count(.retrying, of: name) > 0 else { continue }
                counters.next[name] = try next(number, after: moment)
            }
            return counters
        }
    }

    /// When the first of a route's jobs that wait for their date is due.
    private func next(_ route: Int64, after moment: JobMoment) throws(StoreError) -> Int64? {
        // Between them is what is scheduled or runs.
        let lanes = [(-1, JobRow.scheduledQueue - 1), (JobRow.runningQueue, .max)]
        return try first(route, after: shared.timeline.line(ofWall: moment.wall), in: lanes)
    }

    /// Since when the first job of a route has been due; `plain` is when its oldest plain job was accepted, which was due
    /// at once.
    private func due(
        _ route: Int64,
        _ plain: Int64?,
        _ hasScheduled: Bool,
        at moment: JobMoment
    ) throws(StoreError) -> Int64? {
        var due = try first(route, after: .min, in: [(-1, .max)]) ?? .max
        if hasScheduled, let scheduled = try database.nextScheduled(route) {
            due = min(due, shared.timeline.wall(ofLine: scheduled))
        }
        // One that was accepted by a clock that has been set back since is due all the same.
        if let plain { due = min(due, plain, moment.wall) }
        return due <= moment.wall ? due : nil
    }

    /// When the first of a route's jobs is due that are between those lanes, as from after that moment.
    private func first(
        _ route: Int64,
        after start: Int64,
        in ranges: [(Int64, Int64)]
    ) throws(StoreError) -> Int64? {
        let lanes = try database.statement(
            "SELECT lane FROM job WHERE route = ? AND lane > ? AND lane <= ? ORDER BY lane LIMIT 1"
        )
        let select = try database.statement(
            "SELECT run_at FROM job WHERE route = ? AND lane = ? AND run_at > ? ORDER BY run_at LIMIT 1"
        )
        var first: Int64?
        lanes.bind(1, route)
        select.bind(1, route)
        select.bind(3, start)
        for (low, high) in ranges {
            lanes.bind(2, low)
            lanes.bind(3, high)
            while let lane = try lanes.numbers().first {
                select.bind(2, lane)
                if let due = try select.numbers().first { first = min(first ?? .max, due) }
                lanes.bind(2, lane)
            }
        }
        return first.map(shared.timeline.wall(ofLine:))
    }

    /// Rows that one search for the oldest job looks at.
    private static let oldestSpan: Int64 = 10_000

    /// When the oldest unfinished job of a route was accepted, of which the minute is known.
    ///
    /// It goes on where the last search ended, so that each job is passed once; where the clock has stepped, or an older
    /// job was given another life, it begins anew.
    private func oldest(_ route: Int64, in minute: Int64) throws(StoreError) -> Int64 {
        let select = try database.statement(
            """
            SELECT seq, created, fin IS NULL FROM job INDEXED BY job_route WHERE route = ? AND seq >= ?
            ORDER BY seq LIMIT ?
            """
        )
        for start in [oldestKnown[route], try first(since: minute), try firstJob()] {
            guard let start else { continue }
            select.bind(1, route)
            select.bind(2, start)
            select.bind(3, Self.oldestSpan)
            defer { select.reset() }
            while try select.step() {
                guard select.int(2) == 1, (minute..<minute + 60_000).contains(select.int(1)) else { continue }
                oldestKnown[route] = select.int(0)
                return select.int(1)
            }
        }
        return minute
    }

    /// The same of plain jobs that are scheduled, as far as the first blocks with some of them go; nil where none is.
    private func oldestScheduled(_ route: Int64, in minute: Int64) throws(StoreError) -> Int64? {
        let select = try database.statement(
            """
            SELECT created FROM (SELECT block FROM zone WHERE route = ?1 AND due IS NOT NULL ORDER BY block LIMIT 4)
            CROSS JOIN plain ON plain.seq BETWEEN block << 10 AND (block << 10) + 1023
            WHERE route = ?1 AND lane = 8 AND created BETWEEN ?2 AND ?2 + 59999 LIMIT 1
            """
        )
        select.bind(1, route)
        select.bind(2, minute)
        return try select.numbers().first
    }

    private func firstJob() throws(StoreError) -> Int64? {
        try database.optionalNumber("SELECT min(seq) FROM job")
    }

    /// The first job accepted at that time or later, as positions and times go together.
    private func first(since time: Int64) throws(StoreError) -> Int64? {
        guard var low = try firstJob(),
            var high = try database.optionalNumber("SELECT max(seq) FROM job")
        else { return nil }
        let select = try database.statement(
            "SELECT seq, created FROM job WHERE seq >= ? ORDER BY seq LIMIT 1"
        )
        while low < high {
            let middle = low + (high - low) / 2
            select.bind(1, middle)
            defer { select.reset() }
            guard try select.step() else { return nil }
            if select.int(1) >= time { high = middle } else { low = select.int(0) + 1 }
        }
        return low
    }

    func failures(of route: String?, at moment: JobMoment) throws(StoreError) -> [FailureKind: [Int]] {
        try read { () throws(StoreError) in
            let numbers = try routeNames().filter { route == nil || $0.value == route }.keys
            var found: [FailureKind: [Int]] = [:]
            for number in numbers {
                let select = try database.statement(
                    """
                    SELECT word, at / 60000, count(*) FROM mark WHERE list = 2 AND route = ? GROUP BY 1, 2
                    """
                )
                select.bind(1, number)
                defer { select.reset() }
                while try select.step() {
                    let kind = FailureKind(rawValue: select.text(0) ?? "")
                    let bucket = JobCounters.bucket(ageMinutes: moment.wall / 60_000 - select.int(1))
                    found[kind, default: Array(repeating: 0, count: JobCounters.bucketCount)][bucket] += Int(
                        select.int(2)
                    )
                }
            }
            return found
        }
    }

    /// Unfinished jobs of each user among the next `span` positions that are taken, and where to go on.
    func unfinishedByUser(
        after position: Int64,
        span: Int64
    ) throws(StoreError) -> (counts: [UInt32?: Int], next: Int64?) {
        try read { () throws(StoreError) in
            let select = try database.statement(
                """
                SELECT min(first) FROM (SELECT min(seq) AS first FROM job WHERE seq > ?1
                UNION ALL SELECT max(?1 + 1, min(block) << 10) FROM zone WHERE open > 0 AND block >= (?1 + 1) >> 10
                UNION ALL SELECT max(?1 + 1, min(block) << 10) FROM zone
                WHERE due IS NOT NULL AND block >= (?1 + 1) >> 10)
                """
            )
            select.bind(1, position)
            defer { select.reset() }
            guard try select.step(), let first = select.optionalInt(0) else { return ([:], nil) }
            let last = first + span - 1
            // Of plain jobs only those blocks are looked at that have some.
            let count = try database.statement(
                """
                SELECT user, count(*) FROM (
                SELECT user FROM job WHERE seq >= ?1 AND seq <= ?2 AND fin IS NULL
                UNION ALL SELECT user FROM (
                SELECT block FROM zone WHERE open > 0 AND block BETWEEN ?1 >> 10 AND ?2 >> 10
                UNION SELECT block FROM zone WHERE due IS NOT NULL AND block BETWEEN ?1 >> 10 AND ?2 >> 10) CROSS JOIN plain
                ON plain.seq BETWEEN block << 10 AND (block << 10) + 1023
                WHERE plain.seq BETWEEN ?1 AND ?2 AND lane >= 0
                AND NOT EXISTS (SELECT 1 FROM ended WHERE ended.seq = plain.seq)) GROUP BY user
                """
            )
            count.bind(1, first)
            count.bind(2, last)
            defer { count.reset() }
            var counts: [UInt32?: Int] = [:]
            while try count.step() {
                counts[count.optionalInt(0).map { UInt32(truncatingIfNeeded: $0) }] = Int(count.int(1))
            }
            return (counts, last)
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
