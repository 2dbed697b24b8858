import RelayBase
import RelayJobs
import RelayRecords

/// A row of `job`: the part of a job that changes, with its places in indexes and in its ordering key.
struct JobRow {
    var seq: Int64
    var id: JobID
    var route: Int64
    var priority: Int64
    var machine: JobStateMachine
    /// The date it is due at, where that was asked for.
    var date: Int64?
    /// Wall milliseconds.
    var created: Int64
    var hasBody: Bool
    var hasAnswer: Bool
    /// Whether the answer still has its body.
    var hasAnswerBody = false
    /// Whether the request's content goes with the job's end.
    var dropsContent = false
    /// Whether there is a record of what operators did to it.
    var hasActions = false
    /// The user that handed it over.
    var user: UInt32?
    /// With its user, as `JobRecord.orderingScope` has it.
    var orderingKey: String?
    /// The unfinished jobs before and after it in its ordering key.
    var previous: Int64?
    var next: Int64?
    /// With its user, as `JobRecord.supersedeScope` has it.
    var supersedeKey: String?
    var bodyLength: Int64

    /// Whether it stands in `plain`, and this row nowhere.
    var isPlain = false

    var isBlocked: Bool { previous != nil }

    static let columns = """
        seq, id, route, prio, state, reason, run_at, date, expires, created, fin, attempts, spent, crashes, token,
        version, flags, kind, ending, okey, prv, nxt, skey, length, sum, earlier, user, status,
        upstream, began
        """

    private enum Flag {
        static let mayRepeat: Int64 = 1
        static let isCancelAsked: Int64 = 2
        static let hasBody: Int64 = 4
        static let hasAnswer: Int64 = 8
        static let hasAnswerBody: Int64 = 16
        static let isDated: Int64 = 32
        static let isSuperseded: Int64 = 64
        static let dropsContent: Int64 = 128
        static let isInDoubt: Int64 = 256
        static let isResent: Int64 = 512
        static let hasActions: Int64 = 1_024
        static let asksFirst: Int64 = 2_048
        static let notifies: Int64 = 4_096
        static let owesNotice: Int64 = 8_192
        /// The notices are counted above it.
        static let notices: Int64 = 16
    }

    var flags: Int64 {
        (machine.mayRepeat ? Flag.mayRepeat : 0) | (machine.isCancelAsked ? Flag.isCancelAsked : 0)
            | (hasBody ? Flag.hasBody : 0) | (hasAnswer ? Flag.hasAnswer : 0)
            | (hasAnswerBody ? Flag.hasAnswerBody : 0) | (machine.isDated ? Flag.isDated : 0)
            | (machine.isSuperseded ? Flag.isSuperseded : 0) | (dropsContent ? Flag.dropsContent : 0)
            | (machine.isInDoubt ? Flag.isInDoubt : 0) | (machine.begun?.isResent == true ? Flag.isResent : 0)
            | (hasActions ? Flag.hasActions : 0) | (machine.asksFirst ? Flag.asksFirst : 0)
            | (machine.notifies ? noticeFlags : 0)
    }

    private var noticeFlags: Int64 {
        Flag.notifies | (machine.isNoticeOwed ? Flag.owesNotice : 0) | Int64(machine.notices) << Flag.notices
    }

    /// Whether there is anything left to expunge.
    var hasBodies: Bool { hasBody || hasAnswerBody }

    static let scheduledQueue: Int64 = 8
    static let runningQueue: Int64 = 9

    /// Where those who look for work, or for what runs, find it; nil where there is nothing to find.
    var queue: Int64? {
        switch machine.state {
        case .scheduled: Self.scheduledQueue
        case .running: Self.runningQueue
        default: waitingQueue?.value
        }
    }

    /// Where it waits to be claimed; nil while nobody may.
    var waitingQueue: JobQueue? {
        machine.isReady ? JobQueue(ClaimTurns.party(of: user), Int(priority)) : nil
    }

    var side: Int64? {
        switch machine.state {
        case .scheduled, .held, .dead, .cancelled, .expired: Int64(machine.state.rawValue)
        case .queued, .running, .retrying, .succeeded: nil
        }
    }

    /// Of everything in the row but what other columns give.
    var sum: Int64 {
        var sum = Checksum()
        sum.add([
            seq, Int64(bitPattern: id.high), Int64(bitPattern: id.low), route, priority,
            Int64(machine.state.rawValue), Int64(machine.reason?.rawValue ?? 0), machine.runAt, date ?? -1,
            machine.expiresAt ?? -1, created, machine.finishedAt ?? -1, Int64(machine.attempts),
            Int64(machine.spentAttempts), Int64(machine.earlierAttempts), Int64(machine.crashes),
            Int64(bitPattern: machine.token),
            Int64(bitPattern: machine.version), flags, previous ?? 0, next ?? 0, bodyLength,
            user.map(Int64.init) ?? -1,
        ])
        for text in [machine.failureKind?.rawValue, machine.end?.rawValue, orderingKey, supersedeKey] {
            sum.add(Int64(text?.utf8.count ?? -1))
            if let text { sum.add(text) }
        }
        // Rows that were written before there was such a column have the sum without it.
        if let status = machine.failureStatus { sum.add(Int64(status.rawValue)) }
        // Rows of the first layout have none, and keep their sum.
        if let begun = machine.begun {
            sum.add(begun.beganAt)
            sum.add(begun.upstream)
        }
        return Int64(sum.value)
    }

    /// Nil when the row is not what was written.
    init?(_ row: Statement) {
        guard let id = JobID(bytes: row.bytes(1)), let state = JobState(rawValue: UInt8(clamping: row.int(4)))
        else {
            return nil
        }
        seq = row.int(0)
        self.id = id
        route = row.int(2)
        priority = row.int(3)
        let flags = row.int(16)
        date = row.optionalInt(7)
        machine = JobStateMachine(
            state: state,
            runAt: row.int(6),
            mayRepeat: flags & Flag.mayRepeat != 0,
            asksFirst: flags & Flag.asksFirst != 0,
            notifies: flags & Flag.notifies != 0,
            isDated: flags & Flag.isDated != 0
        )
        machine.isNoticeOwed = flags & Flag.owesNotice != 0
        machine.notices = UInt32(clamping: flags >> Flag.notices)
        machine.reason = WaitReason(rawValue: UInt8(clamping: row.int(5)))
        machine.expiresAt = row.optionalInt(8)
        created = row.int(9)
        machine.finishedAt = row.optionalInt(10)
        machine.attempts = UInt32(clamping: row.int(11))
        machine.spentAttempts = UInt32(clamping: row.int(12))
        machine.crashes = UInt32(clamping: row.int(13))
        machine.earlierAttempts = UInt32(clamping: row.int(25))
        machine.token = UInt64(bitPattern: row.int(14))
        machine.version = UInt64(bitPattern: row.int(15))
        machine.isCancelAsked = flags & Flag.isCancelAsked != 0
        machine.isSuperseded = flags & Flag.isSuperseded != 0
        machine.isInDoubt = flags & Flag.isInDoubt != 0
        if let upstream = row.text(28), let began = row.optionalInt(29) {
            machine.begun = BegunAttempt(
                upstream: upstream,
                beganAt: began,
                isResent: flags & Flag.isResent != 0
            )
        }
        dropsContent = flags & Flag.dropsContent != 0
        hasBody = flags & Flag.hasBody != 0
        hasAnswer = flags & Flag.hasAnswer != 0
        hasAnswerBody = flags & Flag.hasAnswerBody != 0
        hasActions = flags & Flag.hasActions != 0
        user = row.optionalInt(26).map { UInt32(truncatingIfNeeded: $0) }
        machine.failureKind = row.text(17).map(FailureKind.init(rawValue:))
        machine.failureStatus = row.optionalInt(27).map { Status(rawValue: UInt16(truncatingIfNeeded: $0)) }
        machine.end = row.text(18).map(EndReason.init(rawValue:))
        orderingKey = row.text(19)
        previous = row.optionalInt(20)
        next = row.optionalInt(21)
        supersedeKey = row.text(22)
        bodyLength = row.int(23)
        guard row.int(24) == sum else { return nil }
    }

    /// Of a job that has just been accepted.
    init(
        seq: Int64,
        _ record: JobRecord,
        route: Int64,
        machine: JobStateMachine,
        created: Int64,
        bodyLength: UInt64
    ) {
        self.seq = seq
        id = record.id
        self.route = route
        priority = Int64(min(record.priority, 7))
        self.machine = machine
        self.created = created
        hasBody = true
        hasAnswer = false
        user = record.submitter?.user
        orderingKey = record.orderingScope
        supersedeKey = record.supersedeScope
        self.bodyLength = Int64(clamping: bodyLength)
    }
}
