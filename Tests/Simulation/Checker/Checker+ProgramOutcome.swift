import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

// How a program's job ends.
extension Checker {
    func programOutcome(_ job: JobRecord, _ program: ProgramRecord, _ outcome: Outcome) {
        if outcome.failure == nil {
            if program.isUnprepared || program.isPreparing { fail(job, "a failed preparation is not final") }
            if program.accepted != outcome.answer?.status.rawValue {
                fail(job, "an answer is passed on that the program's code did not take")
            }
            if job.failedEvents != 0 { fail(job, "an answered job is recorded as failed") }
            switch (outcome.report.source, job.stage) {
            case (.upstream, .judging), (.upstream, .attempting): note(.programAnswered)
            case (.stale, .closing(.stale)), (.fallback, .closing(.canned)),
                (.placeholder, .closing(.canned)):
                if job.cannedEvents != 1 { fail(job, "a placeholder is served and not recorded once") }
            default: fail(job, "an answer comes that no upstream and no rule gave")
            }
        } else {
            if job.failedEvents != 1 { fail(job, "a failed job is not recorded once") }
            note(.programFailed)
            switch job.stage {
            case .closing, .judging, .attempting: break
            case .waiting where job.cancelledAt != nil: break
            case .waiting, .sending: fail(job, "a job fails although a rule sends again")
            }
        }
    }

    /// A failure that reaches the caller of a route that never fails is told, once.
    func checkBreach(_ job: JobRecord, _ outcome: Outcome) {
        var isBreach = false
        if let failure = outcome.failure {
            isBreach =
                job.route.policy.neverFails && job.options.allowsFallback && failure.kind != .cancelled
                && failure.kind != .clientGone
        }
        if isBreach { note(.breached) }
        if job.breachEvents != (isBreach ? 1 : 0) {
            fail(job, "a breach of a route that never fails is not counted once")
        }
    }
}
