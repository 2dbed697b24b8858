package import RelayBase
package import RelayJobs
import RelayRoute

/// The course of a job: the one account of it, whoever asks and wherever it is told.
///
/// A class, since it goes through many hands and each of them has the same: as a struct its copies cost a promoted
/// request 4,500 instructions.
package final class JobReport: Sendable {
    package let id: JobID
    /// The route's name.
    package let route: String
    /// The user who handed it over; nil when that is not known.
    package let user: UInt32?
    /// The daemon of a fleet on whose machine that is the user.
    package let node: NodeName
    /// Where it stands now.
    package let state: JobState
    /// Why it waits; nil when it does not, or when the state says it all.
    package let reason: WaitReason?
    /// Why it is over without success; nil when the state says it all.
    package let end: EndReason?
    /// Of its whole life.
    package let attemptCount: Int
    /// The cause that brought it to this.
    package let cause: Cause
    /// Whether it was over, and begins another life.
    package let isRevived: Bool
    /// Its request line, its submitter and what else it came with; nil where only the store was asked.
    package let context: JobContext?
    /// Whether it was kept on disk.
    package let isDurable: Bool
    /// The source of its answer; nil when it has none.
    package let source: AnswerSource?
    /// The status of its answer.
    package let status: Status?
    /// Why it did not succeed, as far as an attempt or the relay says; nil when it did, or when neither does.
    package let failure: Failure?
    /// Of its last run; empty where it came to this without one.
    package let attempts: [Attempt]
    /// Why its body was not kept for another attempt; nil when it was, or nobody could have wanted it.
    package let sentOnceBecause: String?
    /// The job that goes on with a request that was answered in the upstream's stead; nil where none does.
    package let keptJob: KeptJobName?
    /// The stand-in that answered the caller of a kept job before it was kept; nil of one that was kept at once, and
    /// where that is not told.
    package let answeredWith: StandIn?
    /// How long it waited for a permit of its route before anything else; nil where it did not have to.
    package let permitWait: Duration?

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
        node = context.client?.node ?? .none
        self.state = state
        reason = nil
        self.end = end
        attemptCount = (context.history?.attempts ?? 0) + attempts.count
        cause = .run
        isRevived = false
        self.context = context
        isDurable = context.history != nil
        self.source = answer == nil ? nil : source
        status = answer?.status
        self.failure = failure
        self.attempts = attempts
        self.sentOnceBecause = sentOnceBecause
        self.keptJob = keptJob
        answeredWith = nil
        permitWait = nil
    }

    /// A job as the store alone knows it.
    package init(_ change: JobChange, answeredWith: StandIn? = nil) {
        (id, route, user, state) = (change.id, change.route, change.user, change.state)
        node = change.node
        (reason, end, attemptCount) = (change.reason, change.end, change.attemptCount)
        (cause, isRevived) = (change.cause, change.isRevived)
        self.answeredWith = answeredWith
        isDurable = true
        attempts = []
        (context, source, status, failure) = (nil, nil, nil, nil)
        (sentOnceBecause, keptJob, permitWait) = (nil, nil, nil)
    }

    /// The same account, but for what is said here.
    private init(
        _ report: JobReport,
        _ state: JobState,
        end: EndReason?,
        _ attemptCount: Int,
        failure: Failure?,
        attempts: [Attempt]? = nil,
        permitWait: Duration? = nil
    ) {
        self.state = state
        self.end = end
        self.attemptCount = attemptCount
        self.failure = failure
        self.attempts = attempts ?? report.attempts
        self.permitWait = permitWait ?? report.permitWait
        (id, route, user, reason) = (report.id, report.route, report.user, report.reason)
        node = report.node
        (cause, isRevived, isDurable) = (report.cause, report.isRevived, report.isDurable)
        (context, source, status) = (report.context, report.source, report.status)
        (sentOnceBecause, keptJob) = (report.sentOnceBecause, report.keptJob)
        answeredWith = report.answeredWith
    }

    /// The account of this run with what the store made of it; `attemptCount` is what it has had in all by then.
    package func settled(as state: JobState, end: EndReason?, attemptCount: Int) -> JobReport {
        let failure = state == .succeeded ? nil : failure
        return JobReport(self, state, end: end, attemptCount, failure: failure)
    }

    /// The account of a request whose answer broke off on its way to the caller.
    func broken(by failure: Failure, _ attempts: [Attempt]) -> JobReport {
        let state: JobState = failure.isCallers ? .cancelled : .dead
        return JobReport(self, state, end: end, attemptCount, failure: failure, attempts: attempts)
    }

    /// The account of a request that waited so long for a permit of its route before it came to that.
    package func after(permitWait: Duration) -> JobReport {
        JobReport(self, state, end: end, attemptCount, failure: failure, permitWait: permitWait)
    }

    package typealias Cause = JobChange.Cause
}

extension JobReport {
    /// Whether it succeeded where an attempt had failed.
    package var isRecovered: Bool {
        guard state == .succeeded, isFromUpstream else { return false }
        // An operation that goes well is looked at as well.
        if isOfOperation { return attempts.contains { $0.failure != nil } }
        return attemptCount > 1 && hasRepeated || attempts.last?.failure != nil
    }

    /// Whether any of its attempts was more than a second sending of the one that was taken.
    var hasRepeated: Bool { attemptCount - attempts.outrun > 1 }

    /// Whether the answer is one to a question of the relay's own.
    var isAskedFor: Bool {
        switch source {
        case .verified?, .followed?: true
        default: false
        }
    }

    /// Whether an operation of the upstream stands for the request.
    var isOfOperation: Bool {
        switch source {
        case .followed?, .begun?: true
        default: false
        }
    }

    /// Why the request does not go on as a kept job, though a rule would have it; nil where none would, or it does.
    package var notKeptBecause: String? {
        for held in attempts.last?.heldBack ?? [] {
            if case .notKept(let reason) = held.reason { return reason.shortText }
        }
        return nil
    }

    /// How long it waited for a permit of its route, where that is worth a word.
    package var permitText: String? { permitWait.flatMap { PermitWait.text($0) } }

    /// Whether the answer is the upstream's, and no stand-in.
    package var isFromUpstream: Bool { source?.isUpstreams ?? true }

    /// Whether a failure reached the caller of a route that never fails.
    package var isBreach: Bool {
        guard !isDurable, let failure, let context else { return false }
        return context.isBreached(by: failure)
    }
}
