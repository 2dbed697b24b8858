import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

extension Checker {
    /// The core reports how a run of a durable job ended.
    ///
    /// - Returns: when its next run is due; nil when it has none.
    func delivered(_ number: Int, _ delivery: Delivery) -> Int64? {
        guard let job = jobs[number] else {
            fail(number, "a job that has ended has another run")
            return nil
        }
        note(job, .outcome, delivery.attempts.count, 0, word(delivery))
        let told = job.failedEvents + job.recoveredEvents + job.cannedEvents + job.breachEvents
        if told != 0 { fail(job, "a run of a durable job tells of an end that is not its own to tell") }
        if now > job.deadline { fail(job, "a run ends after the job's deadline") }
        if let at = job.cancelledAt, now != at { fail(job, "a cancelled job does not end at once") }
        let until = next(job, delivery)
        checkAttempts(job, delivery)
        guard let until, job.cancelledAt == nil else {
            job.outcomes += 1
            return nil
        }
        job.stage = .waiting(until: until)
        job.earlierAttempts = job.attemptBegan.count
        forgive(job)
        if case .requeued(_, .credentials) = delivery.ending, !job.isRefusedForGood {
        } else {
            job.renewed = 0
        }
        job.isRefusedForGood = false
        // Each run may go to every upstream again.
        (job.place, job.entered, job.begunAt, job.visited) = (0, [], [], [])
        return until
    }

    /// Attempts that were refused for their credential count against no allowance, nor do fetches when it was refused for good.
    private func forgive(_ job: JobRecord) {
        job.wire -= job.unspent
        job.unspent = 0
        guard job.isRefusedForGood else { return }
        job.wire -= 1
        for index in job.uses.indices { job.uses[index] -= job.refreshes[index] }
        job.refreshes = job.refreshes.map { _ in 0 }
    }

    /// A durable job's caller stopped it between two runs.
    func stoppedWaiting(_ number: Int) {
        guard let job = jobs[number] else { return fail(number, "a job that has ended is stopped") }
        if job.cancelledAt != now { fail(job, "a job that waits is stopped by nobody") }
        job.outcomes += 1
    }

    private func word(_ delivery: Delivery) -> String {
        let (report, kind) = (delivery.report, delivery.failure?.kind.rawValue ?? "untried")
        return switch delivery.ending {
        case .succeeded: "delivered \(report.status?.rawValue ?? 0) by \(report.source?.rawValue ?? "nobody")"
        case .dead(let reason): "dead \(reason.rawValue), \(kind)"
        case .expired: "expired \(kind)"
        case .retry(let after, _): "waits \(after.saturatedNanoseconds)"
        case .requeued(_, let reason): "back \(reason?.name ?? "now"), \(kind)"
        case .held: "held"
        case .cancelled: "cancelled"
        }
    }

    /// When the job's next run is due after one that ended like that.
    private func next(_ job: JobRecord, _ delivery: Delivery) -> Int64? {
        let failure = delivery.failure ?? Failure("untried", sent: .neverSent, "")
        switch delivery.ending {
        case .succeeded:
            guard let response = delivery.answer, let source = delivery.report.source else {
                fail(job, "a delivery comes without an answer")
                return nil
            }
            delivered(job, response, source)
        case .retry(let after, _):
            guard case .waiting(let until) = job.stage, now + after.saturatedNanoseconds == until else {
                fail(job, "a run ends with another wait than its rule's")
                return nil
            }
            return until
        case .requeued(_, let reason): return putBack(job, reason, failure)
        case .dead(let reason): died(job, failure, reason, delivery)
        case .expired:
            if unsafeEnd(job, failure) != nil {
                fail(job, "a job expires that may have been carried out, as if it had not")
            }
            note(.durableExpired)
            if now < job.deadline { fail(job, "a durable job expires before its time") }
        case .held, .cancelled: fail(job, "a durable job is put aside by no rule")
        }
        return nil
    }

    private func putBack(_ job: JobRecord, _ reason: WaitReason?, _ failure: Failure) -> Int64? {
        beginIfDue(job)
        if case .attempting = job.stage, failure.sent == .neverSent {
            if reason == .credentials { credentialWasMissing(job) }
            dropAttempt(job)
        } else if case .judging = job.stage, failure.sent == .neverSent {
            dropAttempt(job)
        } else if failure.sent == .neverSent {
            fail(job, "a durable job is put back unsent, and was not about to be sent")
        }
        guard job.cancelledAt == nil else {
            note(.durableStopped)
            if failure.sent == .unknown || failure.sent == .answered, !mayRepeat(job) {
                fail(job, "a job is put back whose outcome is unknown and that is not safe to repeat")
            }
            return nil
        }
        if reason == .credentials, failure.kind == .credentialsFailed, job.isRefusedForGood {
            note(.durableRefused)
            return min(now + 3_000_000_000, job.deadline)
        }
        guard reason == .credentials, failure.kind == .credentialsFailed, failure.sent == .neverSent else {
            fail(job, "a durable job is put back that nothing keeps from being sent")
            return nil
        }
        note(.durableCredentials)
        return min(now + 250_000_000, job.deadline)
    }

    /// An attempt that came to nothing before it was sent was none.
    private func dropAttempt(_ job: JobRecord) {
        if job.attemptBegan.count > job.earlierAttempts { job.attemptBegan.removeLast() }
    }

    /// Whether it may be sent again when it was cut off.
    private func mayRepeat(_ job: JobRecord) -> Bool {
        [FailureKind.connectionTerminated, .httpResponseTimeout].contains { kind in
            var cut = Facts(kind, .unknown)
            cut.name(job.route.policy.errorTypes)
            return mayRepeat(job) { $0.catches(cut.kind, cut.treatedAs, isExhausted: false) }
        }
    }

    func mayRepeat(_ job: JobRecord, _ catches: (FailureMatcher) -> Bool) -> Bool {
        if isSafe(job, .idempotentOrKeyed) { return true }
        for rule in job.route.policy.recovery where catches(rule.on) {
            switch rule.action {
            case .retry(let policy): if policy.methods == .any, policy.maxAttempts > 1 { return true }
            case .failover(_, let methods): if methods == .any { return true }
            case .refreshCredentials, .respond, .respondStale, .consult: continue
            // It decides before those below it.
            case .fail, .deadLetter, .pauseRoute, .hold: return false
            }
        }
        return false
    }

    /// How a job must end that failed like that, may have been carried out and may not be repeated.
    private func unsafeEnd(_ job: JobRecord, _ failure: Failure) -> EndReason? {
        guard failure.sent == .unknown || failure.sent == .answered else { return nil }
        let status = (failure.treatedAsStatus ?? failure.status)?.rawValue
        if mayRepeat(job, { $0.catches(failure.kind, status, isExhausted: true) }) { return nil }
        return failure.sent == .unknown ? .outcomeUnknown : .notRepeatable
    }

    private func died(_ job: JobRecord, _ failure: Failure, _ reason: EndReason, _ delivery: Delivery) {
        note(.durableDead)
        if job.isUnpreparable {
            if reason != .rejected || failure.kind != .preparation || !delivery.attempts.isEmpty {
                fail(job, "a request that cannot be prepared ends as something else")
            }
            return
        }
        if job.cancelledAt != nil, reason != .exhausted {
            note(.durableUnknown)
            let isUnsafe = failure.sent == .unknown || failure.sent == .answered
            if !isUnsafe || mayRepeat(job) {
                fail(job, "a job is given up as unknown that could have been put back")
            }
            return
        }
        let expected = unsafeEnd(job, failure)
        if expected != nil { note(expected == .outcomeUnknown ? .durableUnknown : .durableNotRepeatable) }
        if reason != expected ?? .exhausted {
            fail(job, "a job ends as \(reason.rawValue), not as \((expected ?? .exhausted).rawValue)")
        }
        guard case .closing(.failed(let kind)) = job.stage, kind == failure.kind else {
            return fail(job, "a durable job dies although a rule acts, or of another failure")
        }
        if expected == nil, now >= job.deadline { fail(job, "a durable job dies whose time is over") }
    }

    private func delivered(_ job: JobRecord, _ response: HTTPResponse, _ source: AnswerSource) {
        guard source == .upstream else { return fail(job, "a stand-in counts as delivered") }
        guard case .judging(let reply, _) = job.stage else {
            return fail(job, "a delivery that no upstream took")
        }
        if let facts = facts(job) {
            if quickRule(job, facts)?.status != response.status { fail(job, "a failure counts as delivered") }
            return
        }
        tokenTaken(job)
        note(job.earlierAttempts > 0 ? .durableLater : .durableDelivered)
        guard case .answers(let answer) = reply else { return }
        if answer.status != response.status.rawValue { fail(job, "an answer is kept with another status") }
        if case .stream = response.body { fail(job, "a delivery's answer is not collected") }
        keep(job, answer.status)
    }

    private func checkAttempts(_ job: JobRecord, _ delivery: Delivery) {
        let began = job.attemptBegan.dropFirst(job.earlierAttempts)
        if delivery.attempts.map(\.beganAt) != began.map(Timeline.wall) {
            fail(job, "a run tells of other attempts than it made")
        }
    }
}
