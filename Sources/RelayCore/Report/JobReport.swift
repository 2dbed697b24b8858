package import RelayBase
package import RelayJobs
import RelayRoute

/// The course of a job: the one account of it, whoever asks and wherever it is told.
///
/// A class, since it goes through many hands and each of them has the same: as a struct its copies cost a promoted
/// request 4,500 instructions.
package final class JobReport: Sendable {
    /// Where it stands, and what brought it there.
    package let change: JobChange
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
        change = JobChange(
            id: context.id,
            route: context.route.name,
            user: context.client?.user,
            state: state,
            end: end,
            attemptCount: (context.history?.attempts ?? 0) + attempts.count,
            cause: .run
        )
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
        self.change = change
        self.answeredWith = answeredWith
        isDurable = true
        attempts = []
        (context, source, status, failure) = (nil, nil, nil, nil)
        (sentOnceBecause, keptJob, permitWait) = (nil, nil, nil)
    }

    /// The same account, as far as the rest says nothing else.
    private init(
        _ report: JobReport,
        _ change: JobChange,
        failure: Failure?,
        attempts: [Attempt]? = nil,
        permitWait: Duration? = nil
    ) {
        self.change = change
        self.failure = failure
        self.attempts = attempts ?? report.attempts
        self.permitWait = permitWait ?? report.permitWait
        (context, isDurable, source, status) = (
            report.context, report.isDurable, report.source, report.status
        )
        sentOnceBecause = report.sentOnceBecause
        keptJob = report.keptJob
        answeredWith = report.answeredWith
    }

    /// The account of this run with what the store made of it; `attemptCount` is what it has had in all by then.
    package func settled(as state: JobState, end: EndReason?, attemptCount: Int) -> JobReport {
        var change = change
        (change.state, change.end, change.attemptCount) = (state, end, attemptCount)
        return JobReport(self, change, failure: state == .succeeded ? nil : failure)
    }

    /// The account of a request whose answer broke off on its way to the caller.
    func broken(by failure: Failure, _ attempts: [Attempt]) -> JobReport {
        var change = change
        change.state = failure.isCallers ? .cancelled : .dead
        return JobReport(self, change, failure: failure, attempts: attempts)
    }

    /// The account of a request that waited so long for a permit of its route before it came to that.
    package func after(permitWait: Duration) -> JobReport {
        JobReport(self, change, failure: failure, permitWait: permitWait)
    }
}

// The members of its change.
extension JobReport {
    package typealias Cause = JobChange.Cause

    package var id: JobID { change.id }
    package var route: String { change.route }
    package var user: UInt32? { change.user }
    package var state: JobState { change.state }
    package var reason: WaitReason? { change.reason }
    package var end: EndReason? { change.end }
    package var attemptCount: Int { change.attemptCount }
    package var cause: Cause { change.cause }
    package var isRevived: Bool { change.isRevived }
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
