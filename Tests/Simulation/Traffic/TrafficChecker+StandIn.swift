import RelayBase
import RelayCore
import RelayJobs

// Answered in the upstream's stead, and delivered all the same.
extension TrafficChecker {
    /// The request that a caller has sent, or the kept job that goes on with it.
    func job(_ id: JobID, isDelivery: Bool) -> TrafficJob? {
        isDelivery ? laterByID[id] ?? byID[id] : byID[id]
    }

    private func terms(since job: TrafficJob) -> ArraySlice<TrafficTerms> { terms[job.terms.number...] }

    /// How often it may be sent in all.
    private func allowance(_ job: TrafficJob) -> Int {
        min(job.mostAttempts, terms(since: job).map(\.mostAttempts).max() ?? 0)
    }

    func checkAllowance(_ job: TrafficJob) {
        if job.spent >= allowance(job) { fail(job, "is sent more often than is allowed") }
        if job.mayHaveActed, !job.isSafe, !terms(since: job).contains(where: \.repeatsAll) {
            fail(job, "is sent again although a repeat could harm")
        }
        if now < job.notBefore - 2_000_000 { fail(job, "is sent before the wait of its rule is over") }
    }

    func used(_ job: TrafficJob) {
        job.uses += 1
        if job.uses > terms(since: job).map(\.retries).max() ?? 0 {
            fail(job, "is retried more often than its rule allows")
        }
    }

    /// A rule wants to keep a request that it answers.
    func isToBeKept(_ job: TrafficJob) {
        tell("job \(job.number) is to be kept")
        if job.keeping != nil { fail(job, "is to be kept twice") }
        job.keeping = .asked
        if job.mayHaveActed, !job.isSafe, !job.terms.repeatsAll {
            fail(job, "is to be kept although a repeat could harm")
        }
        if job.spent >= allowance(job) { fail(job, "is to be kept with no attempt left") }
    }

    func keepRefused(_ job: TrafficJob) {
        tell("job \(job.number) cannot be kept")
        note("stand-in: keep refused")
        job.keeping = .refused
    }

    /// It goes on as a kept job, with what the core tells of its past.
    func goesOn(_ job: TrafficJob, _ past: PriorAttempts) {
        let later = TrafficJob(after: job, now: now)
        if past.attempts.last?.resentBy == "again" {
            used(later)
            later.notBefore = now + job.terms.retryWait / 2
        }
        job.later = later
        jobs.append(later)
        laterByID[job.id] = later
    }

    /// Checks what its caller is told of its keeping; `stored` is the job that the store had then.
    func checkKeeping(_ job: TrafficJob, _ outcome: Outcome, _ stored: StoredJob?) {
        job.later?.inherited = outcome.attempts.count
        if let name = outcome.report.keptJob {
            note("stand-in: kept")
            if job.later == nil || name.id != job.id {
                fail(job, "is told that it is kept, which nobody has done")
            }
            if stored == nil { fail(job, "is told that it is kept, and is not in the store") }
            if outcome.failure != nil { fail(job, "fails and is kept") }
        } else if job.later != nil, job.cancelledAt == nil {
            fail(job, "is kept, and its answer does not say so")
        }
        if job.keeping == .refused, job.cancelledAt == nil, outcome.failure != nil {
            fail(job, "fails because it could not be kept")
        }
        guard job.keeping == nil, let last = outcome.attempts.last, case .respond? = last.next else { return }
        note("stand-in: not kept")
        let isHold = last.failure?.kind == .breakerOpen || last.failure?.kind == .rateLimited
        if isHold, job.spent < allowance(job) { fail(job, "is answered for a hold, and not kept") }
    }
}
