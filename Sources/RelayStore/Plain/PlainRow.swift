import RelayJobs
import RelayRecords

/// A row of `plain`: a job as it was accepted, under one checksum with its body.
struct PlainRow {
    var columns: PlainColumns
    var record: JobRecord
    var body: [UInt8]

    private static let layout: UInt64 = 1
    static let damagedQueue: Int64 = -1

    static let names = "seq, route, lane, run_at, expires, created, user, record"

    /// Whether a job needs nothing that leads to it but its position and its id.
    static func fits(_ offered: OfferedJob) -> Bool {
        guard case .bytes(let bytes) = offered.job.body, bytes.count <= SQLiteJobStore.inlineLimit,
            offered.job.past == nil, !offered.job.dropsContent
        else { return false }
        switch offered.job.due {
        case .now: break
        // Nothing leads to a scheduled one but the time that it is due at.
        case .after(let delay): if let end = offered.job.expiresAfter, end <= delay { return false }
        case .date: return false
        }
        return offered.job.record.orderingKey == nil && offered.job.record.supersedeKey == nil
            && offered.job.record.labels.isEmpty && !offered.job.record.notifies
    }

    init(_ columns: PlainColumns, _ record: JobRecord, _ body: [UInt8]) {
        self.columns = columns
        self.record = record
        self.body = body
    }

    /// Writes the record of a job that is accepted, with the checksum.
    static func write(
        _ offered: OfferedJob,
        _ body: [UInt8],
        _ columns: PlainColumns,
        to writer: inout RecordWriter
    ) {
        writer.add(layout)
        writer.add(columns.token)
        if let begun = columns.begun {
            writer.add(begun.beganAt)
            writer.add(begun.upstream)
        }
        offered.job.record.add(to: &writer)
        writer.add(body)
        writer.seal(behind: columns.sum)
    }

    /// A row of `names`.
    init(_ row: Statement) throws(RecordReader.Damage) {
        let seq = row.int(0)
        let user = row.optionalInt(6)
        var sum = Checksum(of: seq)
        for column in 1...3 as ClosedRange<Int32> { sum.add(row.int(column)) }
        sum.add(row.optionalInt(4) ?? -1)
        sum.add(row.int(5))
        sum.add(user ?? -1)
        var reader = try RecordReader(sealed: row.bytes(7), behind: sum)
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let token = try reader.number()
        var begun: BegunAttempt?
        if token != 0 {
            let beganAt = try reader.signed()
            begun = BegunAttempt(upstream: try reader.text(), beganAt: beganAt)
        }
        let record = try JobRecord(from: &reader)
        var columns = PlainColumns(
            seq: seq,
            priority: record.priority,
            user: record.submitter?.user,
            route: row.int(1),
            runAt: row.int(3),
            created: row.int(5)
        )
        columns.expiresAt = row.optionalInt(4)
        if row.int(2) == JobRow.scheduledQueue { columns.schedule(at: columns.runAt) }
        if let begun { columns.run(token: token, begun) }
        self.init(columns, record, try reader.data())
    }
}

extension JobRow {
    /// The row that a plain job would have among the others, while it waits or as it was born.
    init(_ plain: PlainRow) {
        var machine = JobStateMachine(
            state: .queued,
            runAt: plain.columns.runAt,
            mayRepeat: plain.record.mayRepeat,
            asksFirst: plain.record.asksFirst,
            isDated: false
        )
        machine.expiresAt = plain.columns.expiresAt
        self.init(
            seq: plain.columns.seq,
            plain.record,
            route: plain.columns.route,
            machine: machine,
            created: plain.columns.created,
            bodyLength: UInt64(plain.body.count)
        )
        isPlain = true
        if plain.columns.queue == Self.scheduledQueue {
            self.machine.state = .scheduled
            self.machine.reason = .notBefore
        }
        if let begun = plain.columns.begun { run(token: plain.columns.token, begun) }
    }

    /// A claim that is on record: it is taken as it was decided, whatever would be decided now.
    mutating func run(token: UInt64, _ begun: BegunAttempt) {
        machine.state = .running
        machine.token = token
        machine.begun = begun
        machine.version = 2
    }

    /// The same as a fault would have it (`StoreFault`).
    mutating func decideAgain(now: Int64) {
        guard let begun = machine.begun else { return }
        let token = machine.token
        machine.state = .queued
        (machine.token, machine.begun, machine.version) = (0, nil, 1)
        _ = machine.claim(token: token, begun, now: now)
    }

    /// Its success, of which the same holds.
    mutating func end(_ ended: EndedRow) {
        machine.state = .succeeded
        machine.token = 0
        machine.begun = nil
        machine.attempts = 1
        machine.spentAttempts = 1
        machine.finishedAt = ended.finishedAt
        machine.version = 3
        hasAnswer = ended.answer != nil
        hasAnswerBody = ended.answer.map { $0.body != .expunged } ?? false
    }
}
