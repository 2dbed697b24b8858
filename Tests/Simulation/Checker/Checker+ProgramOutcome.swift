import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

// How a program's job ends.
extension Checker {
    func programOutcome(_ job: JobRecord, _ program: ProgramRecord, _ outcome: Outcome) {
        let number = job.number
        if outcome.failure == nil {
            if program.isUnprepared || program.isPreparing {
                violated(number, "a failed preparation is not final")
            }
            if program.accepted != outcome.answer?.status.rawValue {
                violated(number, "an answer is passed on that the program's code did not take")
            }
            if job.failedEvents != 0 { violated(number, "an answered job is recorded as failed") }
            switch (outcome.report.source, job.stage) {
            case (.upstream, .judging), (.upstream, .attempting): coverage.note(.programAnswered)
            case (.stale, .closing(.stale)), (.fallback, .closing(.canned)),
                (.placeholder, .closing(.canned)):
                if job.cannedEvents != 1 {
                    violated(number, "a placeholder is served and not recorded once")
                }
            default: violated(number, "an answer comes that no upstream and no rule gave")
            }
        } else {
            if job.failedEvents != 1 { violated(number, "a failed job is not recorded once") }
            coverage.note(.programFailed)
            switch job.stage {
            case .closing, .judging, .attempting: break
            case .waiting where job.cancelledAt != nil: break
            case .waiting, .sending: violated(number, "a job fails although a rule sends again")
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
        if isBreach { coverage.note(.breached) }
        if job.breachEvents != (isBreach ? 1 : 0) {
            violated(job.number, "a breach of a route that never fails is not counted once")
        }
    }
}
