import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    /// Scheduled jobs woken in one go.
    private static let wakeLimit: Int64 = 256

    /// Puts dated jobs on the line anew after a step of the clock, then wakes what is due.
    ///
    /// - Returns: whether there is more to do.
    @discardableResult
    func wake() throws(StoreError) -> Bool {
        if let from = volatile.redateFrom {
            volatile.redateFrom = try redate(from: from)
            // An end of the process in between leaves the rest to the next start.
            try setMeta("redate", volatile.redateFrom ?? Self.redated)
            // Nothing wakes by a time that may no longer hold.
            if volatile.redateFrom != nil { return true }
        }
        guard volatile.nextScheduled <= now else { return false }
        volatile.nextScheduled = .max
        let now = now
        try flushDue()
        for route in routeNames.keys {
            try unfoldScheduled(route, Int(Self.wakeLimit))
            let select = try database.statement(
                "SELECT seq FROM job WHERE route = ? AND lane = 8 AND run_at <= ? ORDER BY run_at LIMIT ?"
            )
            select.bind(1, route)
            select.bind(2, now)
            select.bind(3, Self.wakeLimit)
            for seq in try select.numbers() {
                guard let old = try intact(seq) else { continue }
                try change(old) { $0.wake(now: now) }
            }
            if let next = try database.nextScheduled(route) {
                volatile.nextScheduled = min(volatile.nextScheduled, next)
            }
        }
        return volatile.nextScheduled <= now
    }

    /// Stands in the place of a position when every dated job is on the line.
    static let redated: Int64 = -1

    private func redate(from: Int64) throws(StoreError) -> Int64? {
        let select = try database.statement(
            """
            SELECT seq FROM mark WHERE list = 0 AND route = 0 AND word = '' AND at = 0 AND seq >= ?
            ORDER BY seq LIMIT ?
            """
        )
        select.bind(1, from)
        select.bind(2, Self.wakeLimit)
        let found = try select.numbers()
        for seq in found {
            guard let old = try intact(seq), let date = old.date else { continue }
            let runAt = volatile.timeline.line(ofWall: date)
            try change(old) { $0.redate(runAt: runAt) }
        }
        return found.count < Self.wakeLimit ? nil : found[found.count - 1] + 1
    }

    func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at moment: JobMoment
    ) throws(StoreError) -> ClaimBatch {
        try advance(to: moment)
        let begun = BegunAttempt(upstream: upstream, beganAt: moment.wall)
        try wake()
        guard let number = routes[route] else { return ClaimBatch() }
        var call = ClaimCall(route, number, begun, plain[number], turns[number] ?? ClaimTurns(), limit: limit)
        if try hasUsualDue(number) {
            try findQueues(number)
            call.usualQueueCount = usual[number]?.count(by: now) ?? 0
        }
        while call.left > 0, try claimNext(&call) {}
        turns[number] = call.turns
        try put(call.plainClaims)
        // Of most routes it is known that nothing waits.
        if call.left > 0, volatile.firstDue[number] != .max {
            let next = try nextDue(number)
            volatile.firstDue[number] = next ?? .max
            call.batch.nextDue = next.map { volatile.timeline.wall(ofLine: $0) }
        }
        volatile.operations += UInt64(call.batch.claims.count)
        return call.batch
    }

    /// Puts a job aside until it is known whether it has expired.
    func postpone(_ old: JobRow) throws(StoreError) {
        let time = volatile.timeline.beliefAt
        try change(old) { $0.postpone(until: time) }
    }

    func claim(_ old: JobRow, route: String, _ begun: BegunAttempt) throws(StoreError) -> Claim? {
        let (seq, now) = (old.seq, now)
        if let row = try change(old, { $0.expire(now: now) }) {
            tell(row)
            return nil
        }
        if let end = old.machine.expiresAt, volatile.timeline.isDoubtful(end) {
            try postpone(old)
            return nil
        }
        if try isRunning(before: old) {
            try change(old) { $0.block() }
            return nil
        }
        let payload: (record: JobRecord, body: StoredBody)
        do throws(StoreError) {
            payload = try database.payload(seq)
            guard payload.record.id == old.id, payload.record.route == route else { throw corrupt(seq) }
        } catch {
            guard error.code == .corrupt else { throw error }
            shared.countCorrupt()
            if let row = try change(old, { $0.quarantine(now: now) }) { tell(row) }
            return nil
        }
        let token = volatile.nextToken
        volatile.nextToken += 1
        guard let row = try change(old, { $0.claim(token: token, begun, now: now) }) else { return nil }
        return Claim(
            token: ClaimToken(id: row.id, position: seq, number: token),
            job: row.job(payload.record, volatile.timeline),
            body: payload.body
        )
    }

    /// Puts another attempt of a claim on record, and what came of those before it.
    func begin(_ next: NextAttempt, at moment: JobMoment) throws(StoreError) -> Bool {
        try advance(to: moment)
        guard let old = try intact(next.token.position), old.id == next.token.id else { return false }
        if next.isResend { return try change(old) { $0.resend(token: next.token.number) } != nil }
        var row = old
        let isBegun = row.machine.begin(
            token: next.token.number,
            BegunAttempt(upstream: next.upstream, beganAt: moment.wall),
            attempts: UInt32(clamping: next.earlier.count),
            spent: UInt32(clamping: next.earlier.count { $0.isSpent }),
            kind: next.earlier.last?.failure?.kind
        )
        guard isBegun else { return false }
        if let last = next.earlier.last { row.machine.failureStatus = last.status }
        try put(next.earlier, after: old.machine.attempts, of: row.seq, with: nil)
        try save(row, replacing: old)
        return true
    }
}

extension JobRow {
    func job(_ record: JobRecord, _ timeline: StoreClock) -> StoredJob {
        StoredJob(
            record,
            position: seq,
            machine: machine,
            createdAt: created,
            timeline: timeline,
            bodyLength: UInt64(bodyLength),
            hasBody: hasBody,
            hasAnswer: hasAnswer,
            hasAnswerBody: hasAnswerBody
        )
    }
}

extension Database {
    /// The first column of the first row; nil when it is null.
    func optionalNumber(_ sql: StaticString) throws(StoreError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalInt(0) : nil
    }

    func record(_ seq: Int64) throws(StoreError) -> JobRecord {
        let select = try statement("SELECT record FROM payload WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else {
            if let plain = try plain(seq) { return plain.record }
            throw .damaged("the record", "number \(seq)")
        }
        do throws(RecordReader.Damage) {
            return try JobRecord(sealed: select.bytes(0), at: seq)
        } catch { throw .damaged("the record", "number \(seq)") }
    }

    func payload(_ seq: Int64) throws(StoreError) -> (record: JobRecord, body: StoredBody) {
        let select = try statement("SELECT record, body, sum, file FROM payload WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else {
            if let plain = try plain(seq) { return (plain.record, .bytes(plain.body)) }
            throw .damaged("the record", "number \(seq)")
        }
        do throws(RecordReader.Damage) {
            let record = try JobRecord(sealed: select.bytes(0), at: seq)
            if let bytes = select.optionalBytes(1) {
                guard Int64(Checksum.of(bytes, at: seq)) == select.int(2) else { throw RecordReader.Damage() }
                return (record, .bytes(bytes))
            }
            guard let file = select.optionalBytes(3) else { return (record, .expunged) }
            var reader = try RecordReader(sealed: file, at: seq)
            return (record, .file(try reader.bodyFile()))
        } catch { throw .damaged("the body", "number \(seq)") }
    }
}
