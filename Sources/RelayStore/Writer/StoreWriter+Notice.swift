import RelayBase
import RelayJobs
import RelayRecords

/// Notices: jobs of other routes that tell of the endings of these, each written in the transaction of the ending, or owed
/// from that on.
extension StoreWriter {
    /// The job has ended and owes a notice, or owes it no more.
    func noteNotice(_ row: JobRow) throws(StoreError) {
        if row.machine.isNoticeOwed { volatile.owing.append(row.seq) } else { try forgetOwed(row.seq) }
    }

    /// Makes the notices of the jobs that the transaction has ended, or puts on record that they are owed.
    func makeNotices() throws(StoreError) {
        let owing = volatile.owing
        volatile.owing = []
        if options.fault == .tellsLater { return }
        var left = Self.made
        for seq in owing {
            guard let row = try intact(seq), row.machine.isNoticeOwed, try !makeNotice(of: row, &left) else {
                continue
            }
            let insert = try database.statement("INSERT OR IGNORE INTO owed(seq) VALUES(?)")
            insert.bind(1, seq)
            try insert.run()
            volatile.owed += Int(database.changes)
        }
    }

    /// Bytes of the notices that a transaction makes; the rest is owed.
    private static let made: Int64 = 16 << 20

    /// Makes some of the notices that are owed, in turn, where that can be now.
    func makeOwedNotices(_ limit: Int, _ report: inout SweepReport) throws(StoreError) {
        guard volatile.owed > 0, !isFull else { return }
        let select = try database.statement("SELECT seq FROM owed WHERE seq > ? ORDER BY seq LIMIT ?")
        select.bind(1, volatile.owedFrom)
        select.bind(2, Int64(limit))
        let due = try select.numbers()
        volatile.owedFrom = due.count < limit ? 0 : due.last ?? 0
        var left = Self.made
        var made = 0
        for seq in due {
            guard let row = try intact(seq), row.machine.isNoticeOwed else {
                try forgetOwed(seq)
                continue
            }
            guard try makeNotice(of: row, &left, isLate: true) else { continue }
            try forgetOwed(seq)
            made += 1
        }
        if made > 0, due.count == limit { report.hasMore = true }
    }

    /// A job that owes its notice is removed: nobody will be told.
    func loseNotice(of row: JobRow) throws(StoreError) {
        volatile.owing.removeAll { $0 == row.seq }
        try forgetOwed(row.seq)
        volatile.lost.append("\(row.id)")
    }

    private func forgetOwed(_ seq: Int64) throws(StoreError) {
        guard volatile.owed > 0 else { return }
        let delete = try database.statement("DELETE FROM owed WHERE seq = ?")
        delete.bind(1, seq)
        try delete.run()
        volatile.owed -= Int(database.changes)
    }

    /// `left` is how many bytes of notices the transaction may still make; a notice that `isLate` changes its job once more.
    ///
    /// - Returns: false while it stays owed.
    private func makeNotice(
        of old: JobRow,
        _ left: inout Int64,
        isLate: Bool = false
    ) throws(StoreError) -> Bool {
        let maker = options.events.notices
        var row = old
        switch maker.wish(routeNames[old.route] ?? "", old.machine.state) {
        case .owed: return false
        case .nothing: row.machine.noticeWaived()
        case .notice(let extent):
            guard !isFull, left > 0, let whole = try whole(old, extent), let notice = maker.make(whole)
            else { return false }
            left -= Int64(clamping: notice.body.length)
            // One that is there already tells of this ending: only an earlier one can have made it.
            if try put(notice) {
                volatile.noticed.append(MadeNotice(notice.record, of: old.id, whole.job.record.route))
            }
            row.machine.noticeMade()
        }
        if isLate { row.machine.touch() }
        try write(row, stays: true)
        return true
    }

    private func whole(_ row: JobRow, _ extent: WholeJob.Extent) throws(StoreError) -> WholeJob? {
        let record: JobRecord
        do throws(StoreError) { record = try database.record(row.seq) } catch {
            guard error.code == .corrupt else { throw error }
            return nil
        }
        let job = row.job(record, volatile.timeline)
        do throws(StoreError) { return try database.whole(job, extent) { shared.countCorrupt($0) } } catch {
            guard error.code == .corrupt else { throw error }
            // Of its attempts: the ending can be told without them.
            shared.countCorrupt(error)
            let none = WholeJob.Extent(attempts: 0, hasBodies: extent.hasBodies)
            return try database.whole(job, none) { _ in }
        }
    }

    private func put(_ notice: NewJob) throws(StoreError) -> Bool {
        if try seq(of: notice.record.id) != nil { return false }
        let moment = JobMoment(wall: volatile.timeline.wall(ofLine: now), steady: 0)
        return try putUsual(notice, route: try route(notice.record.route), at: moment).isAccepted
    }
}
