package import RelayBase

/// A durable job as a store knows it; every time in milliseconds since 1970 UTC.
package struct StoredJob: Sendable {
    package var record: JobRecord
    /// Grows with every accepted job and is never used again.
    package var position: Int64
    package var state: JobState
    package var reason: WaitReason?
    package var end: EndReason?
    /// Of the last failed attempt.
    package var failureKind: FailureKind?
    /// Of the answer of that attempt, where there was one.
    package var failureStatus: Status?
    /// The upstream of that attempt: of a dead job in a list, and of one that was looked for by it.
    package var failureUpstream: String?
    package var createdAt: Int64
    /// When it is due; meaningful while it waits.
    package var runAt: Int64
    package var expiresAt: Int64?
    package var finishedAt: Int64?
    /// Recorded attempts.
    package var attempts: Int
    /// Attempts that count against its allowance.
    package var spentAttempts: Int
    /// Recorded attempts before its present life, which begins with acceptance or the last replay.
    package var earlierAttempts: Int
    package var crashes: Int
    /// The attempt under way, of a job that runs.
    package var begun: BegunAttempt?
    /// Whether an attempt, also of an earlier life, may have been carried out that the route would not repeat.
    package var isInDoubt: Bool
    /// Changes with the job: the API's ETag.
    package var version: UInt64
    /// A running job that is to be cancelled.
    package var isCancelAsked: Bool
    /// A running job that gets no other attempt: a newer one took its place.
    package var isSuperseded: Bool
    /// Notices of its endings, that of the last one included while it is owed.
    package var notices: Int
    /// Whether that of its last ending is still to be made.
    package var owesNotice: Bool
    package var bodyLength: UInt64
    /// False once the request's body is gone.
    package var hasBody: Bool
    package var hasAnswer: Bool
    /// False where only the head of the answer is kept.
    package var hasAnswerBody: Bool

    package init(
        _ record: JobRecord,
        position: Int64,
        machine: JobStateMachine,
        createdAt: Int64,
        timeline: StoreClock,
        bodyLength: UInt64,
        hasBody: Bool,
        hasAnswer: Bool = false,
        hasAnswerBody: Bool = false
    ) {
        self.record = record
        self.position = position
        state = machine.state
        reason = machine.waitReason
        end = machine.end
        failureKind = machine.failureKind
        failureStatus = machine.failureStatus
        self.createdAt = createdAt
        runAt = timeline.wall(ofLine: machine.runAt)
        expiresAt = machine.expiresAt.map { timeline.shown($0) }
        finishedAt = machine.finishedAt.map { timeline.shown($0) }
        attempts = Int(machine.attempts)
        spentAttempts = Int(machine.spentAttempts)
        earlierAttempts = Int(machine.earlierAttempts)
        crashes = Int(machine.crashes)
        isInDoubt = machine.isInDoubt || machine.end?.mayHaveActed == true
        version = machine.version
        isCancelAsked = machine.isCancelAsked
        isSuperseded = machine.isSuperseded
        notices = Int(machine.notices)
        owesNotice = machine.isNoticeOwed
        begun = machine.begun
        self.bodyLength = bodyLength
        self.hasBody = hasBody
        self.hasAnswer = hasAnswer
        self.hasAnswerBody = hasAnswerBody
    }
}

/// The last answer of a job.
package struct StoredAnswer: Sendable {
    package var status: Status
    package var fields: HeaderFields
    package var body: StoredBody
    package var source: AnswerSource

    package init(status: Status, fields: HeaderFields, body: StoredBody, source: AnswerSource = .upstream) {
        self.status = status
        self.fields = fields
        self.body = body
        self.source = source
    }
}
