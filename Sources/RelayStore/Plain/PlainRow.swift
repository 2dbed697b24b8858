import RelayJobs

/// A row of `plain`: a job as it was accepted, under one checksum with its body.
struct PlainRow {
    var seq: Int64
    var route: Int64
    var queue: Int64
    var runAt: Int64
    var expiresAt: Int64?
    /// Wall milliseconds.
    var created: Int64
    var user: UInt32?
    /// Of a job that was born running; zero of others.
    var token: UInt64 = 0
    /// With its token.
    var begun: BegunAttempt?
    var record: JobRecord
    var body: [UInt8]

    private static let layout: UInt64 = 1
    static let damagedQueue: Int64 = -1

    static let columns = "seq, route, lane, run_at, expires, created, user, record"

    /// Whether a job needs nothing that leads to it but its position and its id.
    static func fits(_ job: NewJob) -> Bool {
        guard case .bytes(let bytes) = job.body, bytes.count <= SQLiteJobStore.inlineLimit, job.past == nil,
            !job.dropsContent
        else { return false }
        switch job.due {
        case .now: break
        // Nothing leads to a scheduled one but the time that it is due at.
        case .after(let delay): if let end = job.expiresAfter, end <= delay { return false }
        case .date: return false
        }
        let record = job.record
        return record.orderingKey == nil && record.supersedeKey == nil && record.labels.isEmpty
    }

    init(seq: Int64, _ record: JobRecord, _ body: [UInt8], route: Int64, runAt: Int64, created: Int64) {
        self.seq = seq
        self.route = route
        self.runAt = runAt
        self.created = created
        self.record = record
        self.body = body
        queue = Int64(min(record.priority, 7))
        user = record.submitter?.user
    }

    /// Where it waits once it is due.
    var waitingQueue: JobQueue { JobQueue(ClaimTurns.party(of: user), Int(queue)) }

    /// It waits for its time.
    mutating func schedule(at time: Int64) {
        queue = JobRow.scheduledQueue
        runAt = time
    }

    /// It is claimed as it is accepted.
    mutating func run(token: UInt64, _ begun: BegunAttempt) {
        queue = JobRow.runningQueue
        self.token = token
        self.begun = begun
    }

    /// The checksum of the columns beside the record.
    private var sum: Checksum {
        var sum = Checksum(of: seq)
        sum.add(route)
        sum.add(queue)
        sum.add(runAt)
        sum.add(expiresAt ?? -1)
        sum.add(created)
        sum.add(user.map(Int64.init) ?? -1)
        return sum
    }

    /// Writes its record, with the checksum.
    @_optimize(speed)
    func write(to writer: inout RecordWriter) {
        writer.add(Self.layout)
        writer.add(token)
        if let begun {
            writer.add(begun.beganAt)
            writer.add(begun.upstream)
        }
        record.add(to: &writer)
        writer.add(body)
        writer.seal(behind: sum)
    }

    /// A row of `columns`.
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
        self.init(
            seq: seq,
            record,
            try reader.data(),
            route: row.int(1),
            runAt: row.int(3),
            created: row.int(5)
        )
        expiresAt = row.optionalInt(4)
        if row.int(2) == JobRow.scheduledQueue { schedule(at: runAt) }
        if let begun { run(token: token, begun) }
    }
}

extension JobRow {
    /// The row that a plain job would have among the others, while it waits or as it was born.
    init(_ plain: PlainRow) {
        var machine = JobStateMachine(
            state: .queued,
            runAt: plain.runAt,
            mayRepeat: plain.record.mayRepeat,
            isDated: false
        )
        machine.expiresAt = plain.expiresAt
        self.init(
            seq: plain.seq,
            plain.record,
            route: plain.route,
            machine: machine,
            created: plain.created,
            bodyLength: UInt64(plain.body.count)
        )
        isPlain = true
        if plain.queue == Self.scheduledQueue {
            self.machine.state = .scheduled
            self.machine.reason = .notBefore
        }
        if let begun = plain.begun { run(token: plain.token, begun) }
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
