import RelayBase
import RelayJobs
import RelayRecords

/// The part of a job that changes, as each of its changes keeps it: the machine, and which of its content is there.
struct FleetStanding: Equatable, Sendable {
    var machine: JobStateMachine
    /// Whether the request's body is there.
    var hasBody = true
    /// Whether an answer is there, and whether with its body.
    var hasAnswer = false
    var hasAnswerBody = false
    /// Whether the request's content goes with the job's end.
    var dropsContent = false
    /// The upstream of the last failed attempt.
    var failureUpstream: String?

    init(_ machine: JobStateMachine) { self.machine = machine }
}

extension FleetStanding {
    private static let layout: UInt64 = 1

    private struct Flags: OptionSet {
        let rawValue: UInt64
        static let mayRepeat = Flags(rawValue: 1)
        static let isDated = Flags(rawValue: 2)
        static let isCancelAsked = Flags(rawValue: 4)
        static let isSuperseded = Flags(rawValue: 8)
        static let isInDoubt = Flags(rawValue: 16)
        static let hasBody = Flags(rawValue: 32)
        static let hasAnswer = Flags(rawValue: 64)
        static let hasAnswerBody = Flags(rawValue: 128)
        static let dropsContent = Flags(rawValue: 256)
        static let isResent = Flags(rawValue: 512)
        static let hasBegun = Flags(rawValue: 1_024)
        static let asksFirst = Flags(rawValue: 2_048)
        static let notifies = Flags(rawValue: 4_096)
        static let owesNotice = Flags(rawValue: 8_192)
    }

    private var flags: Flags {
        var flags: Flags = []
        if machine.mayRepeat { flags.insert(.mayRepeat) }
        if machine.asksFirst { flags.insert(.asksFirst) }
        if machine.notifies { flags.insert(.notifies) }
        if machine.isNoticeOwed { flags.insert(.owesNotice) }
        if machine.isDated { flags.insert(.isDated) }
        if machine.isCancelAsked { flags.insert(.isCancelAsked) }
        if machine.isSuperseded { flags.insert(.isSuperseded) }
        if machine.isInDoubt { flags.insert(.isInDoubt) }
        if hasBody { flags.insert(.hasBody) }
        if hasAnswer { flags.insert(.hasAnswer) }
        if hasAnswerBody { flags.insert(.hasAnswerBody) }
        if dropsContent { flags.insert(.dropsContent) }
        if let begun = machine.begun { flags.formUnion(begun.isResent ? [.hasBegun, .isResent] : .hasBegun) }
        return flags
    }

    /// The bytes of the column, with the checksum of the job's id and theirs.
    func sealed(for id: JobID) -> [UInt8] {
        var writer = RecordWriter(capacity: 96)
        writer.add(Self.layout)
        writer.add(flags.rawValue)
        writer.add(UInt64(machine.state.rawValue))
        writer.add(UInt64(machine.reason?.rawValue ?? 0))
        writer.add(machine.end?.rawValue)
        writer.add(machine.failureKind?.rawValue)
        writer.add(UInt64(machine.failureStatus?.rawValue ?? 0))
        writer.add(machine.runAt)
        writer.add(machine.expiresAt ?? -1)
        writer.add(machine.finishedAt ?? -1)
        for number in [machine.attempts, machine.spentAttempts, machine.earlierAttempts, machine.crashes] {
            writer.add(UInt64(number))
        }
        writer.add(machine.token)
        writer.add(machine.version)
        if let begun = machine.begun {
            writer.add(begun.upstream)
            writer.add(begun.beganAt)
        }
        writer.add(failureUpstream)
        // Behind all that a version reads which knows of none.
        if machine.notifies { writer.add(UInt64(machine.notices)) }
        return writer.sealed(behind: Checksum(of: id))
    }

    init(sealed bytes: [UInt8], for id: JobID) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, behind: Checksum(of: id))
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let flags = Flags(rawValue: try reader.number())
        guard let state = JobState(rawValue: UInt8(clamping: try reader.number())) else {
            throw RecordReader.Damage()
        }
        let reason = WaitReason(rawValue: UInt8(clamping: try reader.number()))
        let end = try reader.optionalText().map(EndReason.init(rawValue:))
        let kind = try reader.optionalText().map(FailureKind.init(rawValue:))
        let status = UInt16(clamping: try reader.number())
        machine = JobStateMachine(
            state: state,
            runAt: try reader.signed(),
            mayRepeat: flags.contains(.mayRepeat),
            asksFirst: flags.contains(.asksFirst),
            notifies: flags.contains(.notifies),
            isDated: flags.contains(.isDated)
        )
        (machine.reason, machine.end, machine.failureKind) = (reason, end, kind)
        machine.failureStatus = status == 0 ? nil : Status(rawValue: status)
        let (expires, finished) = (try reader.signed(), try reader.signed())
        machine.expiresAt = expires < 0 ? nil : expires
        machine.finishedAt = finished < 0 ? nil : finished
        machine.attempts = UInt32(clamping: try reader.number())
        machine.spentAttempts = UInt32(clamping: try reader.number())
        machine.earlierAttempts = UInt32(clamping: try reader.number())
        machine.crashes = UInt32(clamping: try reader.number())
        machine.token = try reader.number()
        machine.version = try reader.number()
        machine.isCancelAsked = flags.contains(.isCancelAsked)
        machine.isSuperseded = flags.contains(.isSuperseded)
        machine.isInDoubt = flags.contains(.isInDoubt)
        if flags.contains(.hasBegun) {
            machine.begun = BegunAttempt(
                upstream: try reader.text(),
                beganAt: try reader.signed(),
                isResent: flags.contains(.isResent)
            )
        }
        hasBody = flags.contains(.hasBody)
        hasAnswer = flags.contains(.hasAnswer)
        hasAnswerBody = flags.contains(.hasAnswerBody)
        dropsContent = flags.contains(.dropsContent)
        failureUpstream = try reader.optionalText()
        machine.isNoticeOwed = flags.contains(.owesNotice)
        if machine.notifies { machine.notices = UInt32(clamping: try reader.number()) }
    }
}

extension FleetStanding {
    /// Whether there is anything left to expunge.
    var hasBodies: Bool { hasBody || hasAnswerBody }

    /// Whether both are of one change, whatever became of its notice.
    func isSame(as other: FleetStanding) -> Bool {
        if self == other { return true }
        var other = other
        (other.machine.notices, other.machine.isNoticeOwed) = (machine.notices, machine.isNoticeOwed)
        return self == other
    }

    /// The standing after the claim that a row of `change` tells of: the statement that claims leaves it to the reader.
    func claimed(_ token: UInt64, _ begun: BegunAttempt, at now: Int64) -> FleetStanding {
        var claimed = self
        claimed.machine.wake(now: now)
        _ = claimed.machine.claim(token: token, begun, now: now)
        return claimed
    }
}

extension Checksum {
    /// Of a record that belongs to the job: bytes of another one do not pass.
    init(of id: JobID) {
        self.init()
        add(Int64(bitPattern: id.high))
        add(Int64(bitPattern: id.low))
    }
}
