package import RelayBase
package import RelayJobs
import RelayRoute

// Answering in the upstream's stead, and going on as a kept job.
extension ExecutionMachine {
    /// The request that is to be kept before the answer is given; nil where none is.
    func keeping(_ decision: RecoveryMachine.Decision, _ recall: RouteRecall) -> Keeping? {
        guard let wait = recovery.keepsAfter else { return nil }
        switch decision {
        case .respond(let canned):
            return Keeping(response: canned.response, source: canned.source, wait: wait)
        case .respondStale: return recall.stale.map { Keeping(response: $0, source: .stale, wait: wait) }
        default: return nil
        }
    }

    /// The request's content from its beginning, and what was tried for it.
    package func toBeKept(_ moment: Moment) -> (body: Body, past: PriorAttempts)? {
        guard case .keep(let keeping) = step, let asked else { return nil }
        let past = PriorAttempts(
            recovery.attempts,
            isUncertain: recovery.isUncertain,
            standIn: keeping.source,
            wait: keeping.wait,
            timeLeft: moment.now.duration(to: recovery.deadline)
        )
        return (asked.body.fresh, past)
    }

    /// The job is on disk: its caller may be told so.
    package mutating func kept(_ job: KeptJobName) {
        guard case .keep(let keeping) = step else { return }
        keptJob = job
        give(keeping)
    }

    /// The request is answered all the same.
    package mutating func notKept(_ reason: String) {
        guard case .keep(let keeping) = step else { return }
        recovery.notKept(.recorded(reason))
        give(keeping)
    }

    private mutating func give(_ keeping: Keeping) {
        if let attempt = recovery.attempts.last { notes.append(.attemptFailed(attempt)) }
        discard()
        accept(keeping.response, from: .standIn(keeping.source))
    }
}
