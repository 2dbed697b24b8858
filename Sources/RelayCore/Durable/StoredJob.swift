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
    /// What is under way, of a job that runs.
    package var begun: BegunAttempt?
    /// Whether an attempt, also of an earlier life, may have been carried out that the route would not repeat.
    package var isInDoubt: Bool
    /// Changes with the job: the API's ETag.
    package var version: UInt64
    /// A running job that is to be cancelled.
    package var isCancelAsked: Bool
    /// A running job that gets no other attempt: a newer one took its place.
    package var isSuperseded: Bool
    package var bodyLength: UInt64
    /// False once the request's body is gone.
    package var hasBody: Bool
    package var hasAnswer: Bool

    package init(
        _ record: JobRecord,
        position: Int64,
        machine: JobStateMachine,
        createdAt: Int64,
        timeline: JobTimeline,
        bodyLength: UInt64,
        hasBody: Bool,
        hasAnswer: Bool
    ) {
        self.record = record
        self.position = position
        state = machine.state
        reason = machine.reason
        end = machine.end
        failureKind = machine.failureKind
        failureStatus = machine.failureStatus
        self.createdAt = createdAt
        runAt = timeline.wall(ofLine: machine.runAt)
        expiresAt = machine.expiresAt.map { timeline.wall(ofLine: $0) }
        finishedAt = machine.finishedAt.map { timeline.wall(ofLine: $0) }
        attempts = Int(machine.attempts)
        spentAttempts = Int(machine.spentAttempts)
        earlierAttempts = Int(machine.earlierAttempts)
        crashes = Int(machine.crashes)
        isInDoubt = machine.isInDoubt || machine.end?.mayHaveActed == true
        version = machine.version
        isCancelAsked = machine.isCancelAsked
        isSuperseded = machine.isSuperseded
        begun = machine.begun
        self.bodyLength = bodyLength
        self.hasBody = hasBody
        self.hasAnswer = hasAnswer
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

/// One attempt of a durable job: what the timeline shows after a restart.
package struct JobAttemptRecord: Hashable, Sendable {
    /// Counted from 1 over the whole life of the job; given by the store.
    package var number = 0
    package var upstream: String
    package var address: String?
    /// Milliseconds since 1970 UTC.
    package var beganAt: Int64
    package var duration: Duration
    package var nameLookup: Duration = .zero
    package var connect: Duration = .zero
    package var firstByte: Duration?
    /// As in `Exchange`.
    package var wasResent = false
    package var sent: Sent
    package var status: Status?
    /// Nil when it succeeded.
    package var failureKind: FailureKind?
    /// Safe to show.
    package var detail: String?
    package var rule: String?
    /// What the rule decided, such as `retry`.
    package var decision: String?
    /// The wait that was decided.
    package var wait: Duration?
    /// The rules that matched and did not act, each with its reason in words.
    package var heldBack: [HeldRule] = []
    /// Whether it counts against the job's allowance.
    package var isSpent = true

    package init(upstream: String, beganAt: Int64, duration: Duration, sent: Sent) {
        self.upstream = upstream
        self.beganAt = beganAt
        self.duration = duration
        self.sent = sent
    }
}

extension JobAttemptRecord {
    /// What is known of an attempt that a crash cut short.
    package init(interrupted begun: BegunAttempt) {
        self.init(upstream: begun.upstream, beganAt: begun.beganAt, duration: .zero, sent: .unknown)
        wasResent = begun.isResent
        failureKind = .interrupted
        detail =
            "the relay ended without warning while the attempt was under way; whether it was sent is not known"
    }

    /// A rule that matched and did not act.
    package struct HeldRule: Hashable, Sendable {
        package var rule: String
        /// Safe to show.
        package var reason: String

        package init(rule: String, reason: String) {
            self.rule = rule
            self.reason = reason
        }
    }
}
