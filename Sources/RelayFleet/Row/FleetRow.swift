import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// A job as it stood at its last change that a statement has read.
struct FleetRow: Sendable {
    var slot: Int16
    var seq: Int64
    /// The number of its last change; 0 while it is as it was accepted.
    var n: Int32
    var id: JobID
    /// The number of its route.
    var route: Int32
    /// Milliseconds since 1970 UTC by the database's clock, as every time of it.
    var created: Int64
    var bodyLength: UInt64
    var standing: FleetStanding
    var record: JobRecord
    /// The number of the node whose user handed it over.
    var home: Int64
    /// The claim that its last change has settled.
    var settled: UInt64?
    /// The generation that has claimed it; nil of a job that does not run.
    var generation: Int64?
    /// The state under which its last change was counted, where that is another than its own: a claim counts as running
    /// though the job's time was over.
    var countedState: Int16?
    /// Whether a version has made the last change that knows of no notices: what it left out stands in those before it.
    var isUnmarked = false

    var party: Int64 { FleetHome.party(of: record.submitter?.user, at: home) }
    /// The keys by which it depends on others.
    var scopes: [FleetScope] { FleetScope.all(of: record) }
    var urgency: Int16 { Int16(min(record.priority, 7)) }
    /// For the histogram of ages.
    var minute: Int32 { Int32(clamping: created / 60_000) }
    /// The minute under which it is counted: of acceptance while it is not over, of its success so that the count of those
    /// that are gone is known.
    var countedMinute: Int32 {
        let machine = standing.machine
        guard machine.state.isTerminal else { return minute }
        return machine.state == .succeeded ? Int32(clamping: (machine.finishedAt ?? 0) / 60_000) : 0
    }

    func job() -> StoredJob {
        var job = StoredJob(
            record,
            position: seq,
            machine: standing.machine,
            createdAt: created,
            timeline: StoreClock(at: JobMoment(wall: created, steady: created)),
            bodyLength: bodyLength,
            hasBody: standing.hasBody,
            hasAnswer: standing.hasAnswer,
            hasAnswerBody: standing.hasAnswerBody
        )
        if job.failureKind != nil { job.failureUpstream = standing.failureUpstream }
        return job
    }

    func report(_ cause: JobChange.Cause = .store, before: JobState? = nil) -> JobChange {
        let machine = standing.machine
        return JobChange(
            id: id,
            route: record.route,
            user: record.submitter?.user,
            on: record.submitter?.node ?? .none,
            state: machine.state,
            reason: machine.waitReason,
            end: machine.end,
            attemptCount: Int(machine.attempts),
            cause: cause,
            isRevived: before?.isTerminal == true && !machine.state.isTerminal
        )
    }
}

extension FleetRow {
    /// The columns that `init` takes, of a job `j` and its last change `c`, which may be null.
    static let columns = columns(record: "j.record")

    /// The same with another expression for the record.
    static func columns(record: String) -> String {
        """
        j.slot, j.seq, j.id, j.route, j.created, \(record), coalesce(c.n, 0), coalesce(c.state, j.state),
        coalesce(c.standing, j.standing), c.token, c.upstream, c.at,
        CASE WHEN c.n IS NULL THEN j.generation ELSE c.generation END
        """
    }

    /// The record of a row in order, null where those before it fill an answer: `isCut` tells.
    static func bounded(by order: String) -> String {
        """
        CASE WHEN coalesce(sum(octet_length(j.record)) OVER (ORDER BY \(order) ROWS BETWEEN UNBOUNDED PRECEDING
        AND 1 PRECEDING), 0) < \(4 * batchBytes) THEN j.record END
        """
    }

    /// Whether the answer was full before the row.
    static func isCut(_ result: PostgresResult, _ row: Int) -> Bool { result.isNull(row, 5) }

    static let columnCount = 13

    /// The state of the last change of a job that was copied to another slot.
    static let movedState: Int64 = 100

    /// - Throws: `corrupt` when the row is not what was written.
    /// - Returns: nil of a job that lies in another slot now, or was dropped.
    ///
    /// A row whose record was left out has that of `named`, of which only the id is its own.
    init?(_ result: PostgresResult, _ row: Int, named: String? = nil) throws(StoreError) {
        guard let slot = result.int64(row, 0), let seq = result.int64(row, 1),
            let id = result.bytes(row, 2).flatMap(JobID.init(bytes:)), let route = result.int64(row, 3),
            let created = result.int64(row, 4),
            let record = named == nil ? result.bytes(row, 5) : [],
            let n = result.int64(row, 6),
            let state = result.int64(row, 7), let standing = result.bytes(row, 8)
        else { throw .damaged("the row of a job") }
        guard state < Self.movedState else { return nil }
        do throws(RecordReader.Damage) {
            let stored: StoredRecord
            if let named {
                let record = JobRecord(id: id, route: named, method: .get, target: "")
                stored = StoredRecord(record, bodyLength: 0, home: 0)
            } else {
                stored = try StoredRecord(sealed: record, for: id)
            }
            self.init(
                slot: Int16(clamping: slot),
                seq: seq,
                n: Int32(clamping: n),
                id: id,
                route: Int32(clamping: route),
                created: created,
                bodyLength: stored.bodyLength,
                standing: try FleetStanding(sealed: standing, for: id),
                record: stored.record,
                home: stored.home,
                generation: result.int64(row, 12)
            )
        } catch { throw .damaged("the record of job \(id)") }
        // A version that knows of no notices has made the last change, and left out that they are asked for.
        isUnmarked = self.record.notifies && !self.standing.machine.notifies
        if isUnmarked, !self.standing.machine.state.isTerminal { self.standing.machine.notifies = true }
        countedState = Int16(clamping: state)
        let token = result.int64(row, 9)
        if let token, result.isNull(row, 10) { settled = UInt64(bitPattern: token) }
        if let token, let upstream = result.text(row, 10), let at = result.int64(row, 11) {
            let begun = BegunAttempt(upstream: upstream, beganAt: at)
            self.standing = self.standing.claimed(UInt64(bitPattern: token), begun, at: at)
        } else if state == Int64(JobState.queued.rawValue), self.standing.machine.state == .scheduled,
            let at = result.int64(row, 11)
        {
            // Its date has come: the statement that wakes leaves the rest to the reader, as one that claims does.
            self.standing.machine.wake(now: at)
        }
    }
}

/// The bytes of a job's column `record`: what never changes, how long its body was, and whose user handed it over.
struct StoredRecord: Sendable {
    var record: JobRecord
    var bodyLength: UInt64
    var home: Int64

    func sealed() -> [UInt8] {
        var writer = RecordWriter()
        writer.add(bodyLength)
        record.add(to: &writer)
        writer.add(home)
        if home != 0 { writer.add(record.submitter?.node.text) }
        return writer.sealed(behind: Checksum(of: record.id))
    }

    init(_ record: JobRecord, bodyLength: UInt64, home: Int64) {
        self.record = record
        self.home = home
        self.bodyLength = bodyLength
    }

    init(sealed bytes: [UInt8], for id: JobID) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, behind: Checksum(of: id))
        bodyLength = try reader.number()
        record = try JobRecord(from: &reader)
        home = try reader.signed()
        if home != 0 { record.submitter?.node = NodeName(try reader.optionalText()) }
    }
}

extension StoreError {
    static func damaged(_ place: String) -> StoreError {
        StoreError(.corrupt, "cannot read \(place) from the database: it is not what was stored")
    }
}
