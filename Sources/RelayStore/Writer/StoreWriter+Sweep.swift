import RelayBase
import RelayJobs

/// The changes that time makes to jobs, in small steps.
extension StoreWriter {
    func sweep(_ retention: Retention, limit: Int, at moment: JobMoment) throws(StoreError) -> SweepReport {
        try advance(to: moment)
        var report = SweepReport()
        report.hasMore = try wake()
        try expire(limit, &report)
        try sweepPlain(retention, limit, &report)
        try unfoldStragglers(limit, &report)
        try makeOwedNotices(limit, &report)
        for state in [JobState.succeeded, .dead, .cancelled, .expired] {
            let age = state == .succeeded ? retention.succeeded : retention.dead
            try remove(state, finishedBy: before(age), limit, &report)
            try expunge(state, finishedBy: before(retention.bodies), limit, &report)
        }
        if try keys.sweep(now: now, limit: limit, in: database) { report.hasMore = true }
        // While much is written nobody rests, and what is due next is not looked for.
        guard database.allChanges == volatile.written.changes else {
            try writeLine()
            return report
        }
        let due = try nextDue(retention)
        if volatile.timeline.skew != volatile.written.skew
            || due != nil && now.subtractingSaturating(volatile.written.line) >= Self.longestUnwritten
        {
            try writeLine()
        }
        // A route that comes back is not told of here.
        let longest = volatile.owed > 0 ? Self.longestOwed : Self.longestIdleTime
        report.idleTime = .milliseconds(
            min(longest, max(0, (due ?? .max).subtractingSaturating(now)))
        )
        return report
    }

    /// Milliseconds after which notices are tried again that are owed.
    private static let longestOwed: Int64 = 5_000
    /// Milliseconds; nobody is to reckon with more.
    private static let longestIdleTime: Int64 = 86_400_000
    /// Milliseconds of the line that a crash may cost beside a clock that starts anew, while nothing is written.
    private static let longestUnwritten: Int64 = 3_600_000

    /// Writes how far the line has come: with what else is written, when its skew is another, and at times while there
    /// are jobs; a store at rest leaves the disk alone.
    private func writeLine() throws(StoreError) {
        try keepTimeline()
        volatile.written = (now, volatile.timeline.skew, database.allChanges)
    }

    /// When, on the line, time does something next to the jobs as they are; nil when never.
    private func nextDue(_ retention: Retention) throws(StoreError) -> Int64? {
        // Dated jobs that are still to be put on the line anew are due now; else the next job that wakes counts.
        var due = volatile.redateFrom == nil ? volatile.nextScheduled : now
        let expiry = try database.statement(
            """
            SELECT expires FROM job INDEXED BY job_expires WHERE expires IS NOT NULL AND fin IS NULL
            AND state BETWEEN 0 AND 4 AND state <> 2 ORDER BY expires LIMIT 1
            """
        )
        due = min(due, try expiry.numbers().first ?? .max)
        for state in [JobState.succeeded, .dead, .cancelled, .expired] {
            let age = state == .succeeded ? retention.succeeded : retention.dead
            for (age, place) in [
                (age, (.min, .min)), (retention.bodies, volatile.expunged[state] ?? (.min, .min)),
            ] as [(Duration, (Int64, Int64))] {
                guard let first = try finished(state, after: place, by: .max, 1).first else { continue }
                due = min(due, first.finished.addingSaturating(age.saturatedNanoseconds / 1_000_000))
            }
        }
        due = min(due, plain.firstExpiry)
        if let first = try database.optionalNumber("SELECT min(fin) FROM zone WHERE fin IS NOT NULL") {
            let age = min(retention.succeeded, retention.bodies)
            due = min(due, first.addingSaturating(age.saturatedNanoseconds / 1_000_000))
        }
        due = min(due, keys.nextEnd ?? .max)
        return due == .max ? nil : due
    }

    func before(_ age: Duration) -> Int64 {
        now.subtractingSaturating(age.saturatedNanoseconds / 1_000_000)
    }

    private func expire(_ limit: Int, _ report: inout SweepReport) throws(StoreError) {
        let select = try database.statement(
            """
            SELECT seq FROM job INDEXED BY job_expires WHERE expires <= ? AND expires IS NOT NULL AND fin IS NULL
            AND state BETWEEN 0 AND 4 AND state <> 2 ORDER BY expires LIMIT ?
            """
        )
        select.bind(1, now)
        select.bind(2, Int64(limit))
        var due = try select.numbers()
        due += plain.expired(by: now, limit - due.count)
        let now = now
        for seq in due {
            guard let old = try intact(seq) else { continue }
            if let row = try change(old, { $0.expire(now: now) }) { report.ended.append(self.report(row)) }
        }
        if due.count == limit { report.hasMore = true }
    }

    private func remove(
        _ state: JobState,
        finishedBy time: Int64,
        _ limit: Int,
        _ report: inout SweepReport
    ) throws(StoreError) {
        let due = try finished(state, after: (.min, .min), by: time, limit).map(\.seq)
        for seq in due {
            guard mayErase(&report) else { return }
            guard let old = try intact(seq) else { continue }
            if try drop(old) { report.removed += 1 }
        }
        if due.count == limit { report.hasMore = true }
    }

    private func expunge(
        _ state: JobState,
        finishedBy time: Int64,
        _ limit: Int,
        _ report: inout SweepReport
    ) throws(StoreError) {
        let from = volatile.expunged[state] ?? (.min, .min)
        let due = try finished(state, after: from, by: time, limit)
        for (seq, finished) in due {
            guard mayErase(&report) else { return }
            volatile.expunged[state] = (finished, seq)
            guard let old = try intact(seq), old.hasBodies else { continue }
            try expunge(old)
            report.expunged += 1
        }
        if due.count == limit { report.hasMore = true }
    }

    /// Whether the log has room for more that is erased; if not, the next sweep goes on.
    func mayErase(_ report: inout SweepReport) -> Bool {
        if volatile.erased < eraseLimit { return true }
        report.hasMore = true
        return false
    }

    private func finished(
        _ state: JobState,
        after place: (finished: Int64, seq: Int64),
        by time: Int64,
        _ limit: Int
    ) throws(StoreError) -> [(seq: Int64, finished: Int64)] {
        let select = try database.statement(
            """
            SELECT seq, fin FROM job WHERE state = ?1 AND fin IS NOT NULL AND fin >= ?2 AND fin <= ?4
            AND (fin > ?2 OR seq > ?3) ORDER BY fin, seq LIMIT ?5
            """
        )
        select.bind(1, Int64(state.rawValue))
        select.bind(2, place.finished)
        select.bind(3, place.seq)
        select.bind(4, time)
        select.bind(5, Int64(limit))
        defer { select.reset() }
        var found: [(Int64, Int64)] = []
        while try select.step() { found.append((select.int(0), select.int(1))) }
        return found
    }
}
