package import RelayBase
package import RelayJobs
import RelayRoute

/// The course of a job: the one account of it, whoever asks and wherever it is told.
///
/// A class, since it goes through many hands and each of them has the same.
package final class JobReport: Sendable {
    package let id: JobID
    /// The route's name.
    package let route: String
    /// The user who handed it over; nil when that is not known.
    package let user: UInt32?
    /// Its request line, its submitter and what else it came with; nil where only the store was asked.
    package let context: JobContext?
    /// Whether it was kept on disk.
    package let isDurable: Bool
    /// Where it stands now.
    package let state: JobState
    /// Why it waits; nil when it does not, or when the state says it all.
    package let reason: WaitReason?
    /// Why it is over without success; nil when the state says it all.
    package let end: EndReason?
    /// The source of its answer; nil when it has none.
    package let source: AnswerSource?
    /// The status of its answer.
    package let status: Status?
    /// Why it did not succeed, as far as an attempt or the relay says; nil when it did, or when neither does.
    package let failure: Failure?
    /// Of its last run; empty where it came to this without one.
    package let attempts: [Attempt]
    /// Of its whole life.
    package let attemptCount: Int
    /// The cause that brought it to this.
    package let cause: Cause
    /// Why its body was not kept for another attempt; nil when it was, or nobody could have wanted it.
    package let sentOnceBecause: String?
    /// The job that goes on with a request that was answered in the upstream's stead; nil where none does.
    package let keptJob: KeptJobName?
    /// The stand-in that answered the caller of a kept job before it was kept; nil of one that was kept at once, and
    /// where that is not told.
    package let answeredWith: StandIn?
    /// Whether it was over, and begins another life.
    package let isRevived: Bool
    /// How long it waited for a permit of its route before anything else; nil where it did not have to.
    package let permitWait: Duration?

    package typealias Cause = JobChange.Cause

    /// A job that has run, with the last answer it had.
    package init(
        _ context: JobContext,
        _ state: JobState,
        end: EndReason? = nil,
        _ answer: HTTPResponse? = nil,
        by source: AnswerSource = .upstream,
        failure: Failure? = nil,
        attempts: [Attempt] = [],
        sentOnceBecause: String? = nil,
        keptJob: KeptJobName? = nil
    ) {
        id = context.id
        route = context.route.name
        user = context.client?.user
        self.context = context
        isDurable = context.history != nil
        self.state = state
        reason = nil
        self.end = end
        self.source = answer == nil ? nil : source
        status = answer?.status
        self.failure = failure
        self.attempts = attempts
        attemptCount = (context.history?.attempts ?? 0) + attempts.count
        cause = .run
        self.sentOnceBecause = sentOnceBecause
        self.keptJob = keptJob
        answeredWith = nil
        isRevived = false
        permitWait = nil
    }

    /// A run with what the store made of it; what `attemptCount` it has had in all by then.
    package init(_ run: JobReport, _ state: JobState, end: EndReason?, attemptCount: Int) {
        id = run.id
        route = run.route
        user = run.user
        context = run.context
        isDurable = run.isDurable
        self.state = state
        reason = run.reason
        self.end = end
        source = run.source
        status = run.status
        failure = state == .succeeded ? nil : run.failure
        attempts = run.attempts
        self.attemptCount = attemptCount
        cause = run.cause
        sentOnceBecause = run.sentOnceBecause
        keptJob = run.keptJob
        answeredWith = nil
        isRevived = false
        permitWait = run.permitWait
    }

    /// A job as the store alone knows it.
    package init(_ change: JobChange, answeredWith: StandIn? = nil) {
        id = change.id
        route = change.route
        user = change.user
        state = change.state
        reason = change.reason
        end = change.end
        attemptCount = change.attemptCount
        cause = change.cause
        isRevived = change.isRevived
        self.answeredWith = answeredWith
        isDurable = true
        context = nil
        source = nil
        status = nil
        failure = nil
        attempts = []
        sentOnceBecause = nil
        keptJob = nil
        permitWait = nil
    }

    /// A request whose answer broke off on its way to the caller.
    init(_ report: JobReport, brokenBy failure: Failure, _ attempts: [Attempt]) {
        id = report.id
        route = report.route
        user = report.user
        context = report.context
        isDurable = report.isDurable
        state = failure.isCallers ? .cancelled : .dead
        reason = report.reason
        end = report.end
        source = report.source
        status = report.status
        self.failure = failure
        self.attempts = attempts
        attemptCount = report.attemptCount
        cause = report.cause
        sentOnceBecause = report.sentOnceBecause
        keptJob = report.keptJob
        answeredWith = report.answeredWith
        isRevived = report.isRevived
        permitWait = report.permitWait
    }

    /// A request that waited so long for a permit of its route before it came to that.
    package init(_ report: JobReport, permitWait: Duration) {
        id = report.id
        route = report.route
        user = report.user
        context = report.context
        isDurable = report.isDurable
        state = report.state
        reason = report.reason
        end = report.end
        source = report.source
        status = report.status
        failure = report.failure
        attempts = report.attempts
        attemptCount = report.attemptCount
        cause = report.cause
        sentOnceBecause = report.sentOnceBecause
        keptJob = report.keptJob
        answeredWith = report.answeredWith
        isRevived = report.isRevived
        self.permitWait = permitWait
    }
}

extension JobReport {
    /// Whether it succeeded where an attempt had failed.
    package var isRecovered: Bool {
        state == .succeeded && isFromUpstream && (attemptCount > 1 || attempts.last?.failure != nil)
    }

    /// Why the request does not go on as a kept job, though a rule would have it; nil where none would, or it does.
    package var notKeptBecause: String? {
        for held in attempts.last?.heldBack ?? [] {
            if case .notKept(let reason) = held.reason { return reason.words }
        }
        return nil
    }

    /// How long it waited for a permit of its route, where that is worth a word.
    package var permitWords: String? { permitWait.flatMap { PermitWait.words($0) } }

    /// Whether the answer is the upstream's, and no stand-in.
    package var isFromUpstream: Bool { source == nil || source == .upstream }

    /// Whether a failure reached the caller of a route that never fails.
    package var isBreach: Bool {
        guard !isDurable, let failure, let context else { return false }
        return context.isBreached(by: failure)
    }
}
