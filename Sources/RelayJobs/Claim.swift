package import RelayBase

/// Shows that its holder has claimed a job; worthless once the claim is settled or lost.
package struct ClaimToken: Hashable, Sendable {
    package var id: JobID
    package var position: Int64
    /// Never given twice.
    package var number: UInt64

    package init(id: JobID, position: Int64, number: UInt64) {
        self.id = id
        self.position = position
        self.number = number
    }
}

/// A job that is the caller's to send.
package struct Claim: Sendable {
    package var token: ClaimToken
    package var job: StoredJob
    package var body: StoredBody

    /// Of the next attempt, counted from 1 over the whole life of the job.
    package var attemptNumber: Int { job.attempts + 1 }

    package init(token: ClaimToken, job: StoredJob, body: StoredBody) {
        self.token = token
        self.job = job
        self.body = body
    }
}

extension Claim {
    /// Of a job that was claimed with its acceptance at `moment`, for an attempt to `upstream`.
    package init(_ token: ClaimToken, of new: NewJob, to upstream: String, at moment: JobMoment) {
        let timeline = StoreClock(at: moment)
        var machine = JobStateMachine(
            runAt: timeline.now,
            expiresAt: new.expiresAfter.map { StoreClock.advance(timeline.now, by: $0) },
            mayRepeat: new.record.mayRepeat,
            asksFirst: new.record.asksFirst,
            notifies: new.record.notifies,
            isDated: false,
            isBlocked: false,
            now: timeline.now
        )
        let begun = BegunAttempt(upstream: upstream, beganAt: moment.wall)
        _ = machine.claim(token: token.number, begun, now: timeline.now)
        let job = StoredJob(
            new.record,
            position: token.position,
            machine: machine,
            createdAt: moment.wall,
            timeline: timeline,
            bodyLength: new.body.length,
            hasBody: true
        )
        self.init(token: token, job: job, body: new.body)
    }
}

/// An attempt that is on record as begun, before anybody knows what becomes of it.
package struct BegunAttempt: Hashable, Sendable {
    package var upstream: String
    /// Milliseconds since 1970 UTC.
    package var beganAt: Int64
    /// Whether it went out once more within the attempt, as in `Exchange`.
    package var isResent: Bool

    package init(upstream: String, beganAt: Int64, isResent: Bool = false) {
        self.upstream = upstream
        self.beganAt = beganAt
        self.isResent = isResent
    }
}

/// The attempt that goes on record of a claim before it is sent: another one, or the present one once more.
package struct NextAttempt: Sendable {
    package var token: ClaimToken
    /// Whether the attempt that is on record as begun goes out once more; the rest then says nothing.
    package var isResend = false
    /// Where it goes.
    package var upstream: String
    /// The earlier attempts under the claim that are not on record yet, in order.
    package var earlier: [Attempt]

    package init(_ token: ClaimToken, upstream: String, earlier: [Attempt]) {
        self.token = token
        self.upstream = upstream
        self.earlier = earlier
    }

    /// The attempt that has begun, once more.
    package init(resending token: ClaimToken) {
        self.init(token, upstream: "", earlier: [])
        isResend = true
    }
}

/// The answer to a claim.
package struct ClaimBatch: Sendable {
    package var claims: [Claim] = []
    /// When the route's next waiting job is due, in milliseconds since 1970 UTC, if fewer than asked for were.
    package var nextDue: Int64?

    package init() {}
}

/// How a claim ended.
package struct Settlement: Sendable {
    package var token: ClaimToken
    package var ending: Ending
    /// The attempts under this claim that are not on record yet, in order.
    package var attempts: [Attempt]
    /// The last answer; kept in the place of an earlier one.
    package var answer: StoredAnswer?
    /// Nil keeps the one before.
    package var failureKind: FailureKind?
    /// Goes with the kind: nil where that failure had no answer.
    package var failureStatus: Status?
    /// Whether one of its attempts may have been carried out that the route would not repeat.
    package var isUncertain = false
    /// Whether the upstream has said that no earlier attempt was carried out.
    package var isSettled = false
    /// Whether the request's body is no longer needed and goes with the settlement; only of an ending that is over.
    package var dropsBody = false

    package init(
        _ token: ClaimToken,
        _ ending: Ending,
        attempts: [Attempt] = [],
        answer: StoredAnswer? = nil,
        failureKind: FailureKind? = nil
    ) {
        self.token = token
        self.ending = ending
        self.attempts = attempts
        self.answer = answer
        self.failureKind = failureKind
    }

    package enum Ending: Hashable, Sendable {
        case succeeded
        case dead(EndReason)
        /// Due again after a delay.
        case retry(after: Duration, WaitReason)
        /// Not sent: back among those that wait, nothing burned; without a reason it may be claimed at once.
        case requeued(after: Duration, WaitReason?)
        /// Put aside until it is released.
        case held(WaitReason)
        case cancelled
        case expired
    }

    package enum Answer: Hashable, Sendable {
        /// On disk; says where the job stands now and, once it is over, why.
        case applied(JobState, EndReason? = nil)
        /// The token is not the live one: nothing has changed.
        case stale
    }
}
