/// What became of a job: the one account of it, whoever asks and wherever it is told.
package struct JobReport: Sendable {
    package var id: JobID
    /// The route's name.
    package var route: String
    /// Who handed it over; nil when that is not known.
    package var user: UInt32?
    /// Its request line, its submitter and what else it came with; nil where only the store was asked.
    package var context: JobContext?
    /// Whether it was kept on disk.
    package var isDurable: Bool
    /// Where it stands now.
    package var state: JobState
    /// Why it waits; nil when it does not, or when the state says it all.
    package var reason: WaitReason?
    /// Why it is over without success; nil when the state says it all.
    package var end: EndReason?
    /// Who made its answer; nil when it has none.
    package var source: AnswerSource?
    /// The status of its answer.
    package var status: Status?
    /// Why it did not succeed, as far as an attempt or the relay says; nil when it did, or when neither does.
    package var failure: Failure?
    /// Of its last run; empty where it came to this without one.
    package var attempts: [Attempt] = []
    /// Of its whole life.
    package var attemptCount = 0
    /// What brought it to this.
    package var cause = Cause.run
    /// Why its body was not kept for another attempt; nil when it was, or nobody could have wanted it.
    package var sentOnceBecause: String?

    /// What may change a job.
    package enum Cause: Hashable, Sendable {
        /// An attempt, or what was decided after it.
        case run
        /// The store: its time ran out, a crash cut it off, its record is damaged, a newer job took its place.
        case store
        /// Somebody acted on it; nil when the kernel has no name for them.
        case action(JobAction, by: UInt32?)
        /// Its route was paused or goes on.
        case pause
    }

    /// A job that has run.
    package init(_ context: JobContext, _ state: JobState) {
        id = context.id
        route = context.route.name
        user = context.client?.user
        self.context = context
        isDurable = context.history != nil
        self.state = state
    }

    /// A job as the store alone knows it.
    package init(
        id: JobID,
        route: String,
        user: UInt32?,
        state: JobState,
        reason: WaitReason? = nil,
        end: EndReason? = nil,
        attemptCount: Int = 0,
        cause: Cause = .store
    ) {
        self.id = id
        self.route = route
        self.user = user
        self.state = state
        self.reason = reason
        self.end = end
        self.attemptCount = attemptCount
        self.cause = cause
        isDurable = true
    }
}

extension JobReport {
    /// Whether it succeeded where an attempt had failed.
    package var isRecovered: Bool {
        state == .succeeded && isFromUpstream && (attemptCount > 1 || attempts.last?.failure != nil)
    }

    /// Whether the answer is the upstream's, and no stand-in.
    package var isFromUpstream: Bool { source == nil || source == .upstream }

    /// Whether a failure reached the caller of a route that never fails.
    package var isBreach: Bool {
        guard !isDurable, let failure, let context else { return false }
        return context.isBreached(by: failure)
    }
}

extension Failure {
    /// Whether the caller ended it, who hung up or did not bring the whole body: it says nothing of the upstream.
    package var isCallers: Bool { kind == .cancelled || kind == .clientGone }
}
