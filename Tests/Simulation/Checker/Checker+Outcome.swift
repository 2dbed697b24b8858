import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

extension Checker {
    func outcome(_ number: Int, _ outcome: Outcome) {
        guard let job = jobs[number] else { return fail(number, "a job that has ended has another outcome") }
        job.outcomes += 1
        note(job, .outcome, outcome.attempts.count, 0, word(outcome))
        if job.outcomes > 1 { return fail(job, "a job has two outcomes") }
        if now > job.deadline + (job.program?.isDeaf == true ? 1_000_000_000 : 0) {
            fail(job, "an outcome comes after the job's deadline")
        }
        if now == job.deadline { note(.outcomeAtDeadline) }
        if let at = job.cancelledAt, now != at { fail(job, "a cancelled job does not end at once") }
        checkBreach(job, outcome)
        if job.isUnpreparable { return unpreparable(job, outcome) }
        checkAttempts(job, outcome)
        if let program = job.program { return programOutcome(job, program, outcome) }
        if let failure = outcome.failure {
            failed(job, failure, outcome.answer)
        } else if let response = outcome.answer, let source = outcome.report.source {
            answered(job, response, source, outcome)
        } else {
            fail(job, "a job succeeds without an answer")
        }
    }

    private func word(_ outcome: Outcome) -> String {
        let status = outcome.report.status?.rawValue ?? 0
        if let failure = outcome.failure { return "failed \(failure.kind.rawValue), answer \(status)" }
        return "answered \(status) by \(outcome.report.source?.rawValue ?? "nobody")"
    }

    private func unpreparable(_ job: JobRecord, _ outcome: Outcome) {
        note(.preparationFailed)
        if outcome.failure?.kind == .preparation, outcome.answer == nil, outcome.attempts.isEmpty,
            job.failedEvents == 1
        {
            return
        }
        fail(job, "a request that cannot be prepared ends as something else")
    }

    private func checkAttempts(_ job: JobRecord, _ outcome: Outcome) {
        // A cancelled wait may end in the instant in which its attempt would have begun.
        if outcome.attempts.count != job.attemptBegan.count {
            return fail(job, "the outcome tells of another number of attempts than there were")
        }
        for (attempt, began) in zip(outcome.attempts, job.attemptBegan) {
            if attempt.beganAt != Timeline.wall(at: began) {
                fail(job, "an attempt began at another time than its rule said")
            }
            if began >= job.deadline { fail(job, "an attempt begins at or after the job's deadline") }
            if attempt.duration < .zero { fail(job, "an attempt has a negative duration") }
        }
    }

    private func answered(
        _ job: JobRecord,
        _ response: HTTPResponse,
        _ source: AnswerSource,
        _ outcome: Outcome
    ) {
        switch source {
        case .upstream: answeredByUpstream(job, response, outcome)
        case .verified, .followed, .begun:
            fail(job, "the upstream's word is served of a route that does not ask for it")
        case .fallback, .placeholder:
            note(source == .fallback ? .fallback : .placeholder)
            guard case .closing(.canned(let rule)) = job.stage,
                case .respond(let canned) = job.route.policy.recovery[rule].action
            else { return fail(job, "a placeholder is served that no rule asked for") }
            if canned.status != response.status || canned.source.rawValue != source.rawValue {
                fail(job, "a placeholder is served that is not the rule's")
            }
            if job.cannedEvents != 1 { fail(job, "a placeholder is served and not recorded once") }
        case .stale:
            note(.stale)
            guard case .closing(.stale) = job.stage, let kept = keptAnswer(job) else {
                return fail(job, "a stale answer is served that no rule asked for")
            }
            if kept != response.status.rawValue { fail(job, "another answer is served than the one kept") }
            if job.cannedEvents != 1 { fail(job, "a stale answer is served and not recorded once") }
        }
        if job.failedEvents != 0 { fail(job, "an answered job is recorded as failed") }
    }

    private func answeredByUpstream(_ job: JobRecord, _ response: HTTPResponse, _ outcome: Outcome) {
        if job.recoveredEvents
            != (job.attemptBegan.count > 1 || outcome.attempts.last?.failure != nil ? 1 : 0)
        {
            fail(job, "a recovery is not recorded once")
        }
        if case .closing = job.stage { return fail(job, "a failure is passed on as a success") }
        if case .judging = job.stage {
        } else if case .attempting = job.stage {
            guard let rule = quickRule(job, Facts(.credentialsFailed, .neverSent)),
                rule.status == response.status
            else { return fail(job, "a success comes that no upstream gave") }
        } else {
            return fail(job, "a success comes that no upstream gave")
        }
        if let facts = facts(job) {
            guard let rule = quickRule(job, facts) else {
                return fail(job, "a failure is passed on as a success")
            }
            if rule.status != response.status {
                fail(job, "a quick recovery answers with another status than its rule's")
            }
            return note(.quickRecovered)
        }
        guard case .judging(.answers(let answer), let stream) = job.stage else { return }
        if answer.status != response.status.rawValue {
            fail(job, "an answer is passed on with another status")
        }
        tokenTaken(job)
        note(job.attemptBegan.count > 1 ? .answeredLater : .answeredAtOnce)
        keep(job, answer.status)
        if stream?.isOpen == true { note(.streamPassed) }
    }

    func keep(_ job: JobRecord, _ status: UInt16) {
        guard job.isShareable, job.route.policy.response.keepsLastGood != nil else { return }
        job.route.kept[job.answerKey] = (status, now)
    }

    /// The status of the last good answer to what the job asks for, unless it is too old.
    func keptAnswer(_ job: JobRecord) -> UInt16? {
        guard job.isShareable, let rule = job.route.policy.response.keepsLastGood,
            let kept = job.route.kept[job.answerKey], now - kept.at < rule.maxAge.saturatedNanoseconds
        else { return nil }
        return kept.status
    }

    private func failed(_ job: JobRecord, _ failure: Failure, _ answer: HTTPResponse?) {
        if job.failedEvents != 1 { fail(job, "a failed job is not recorded once") }
        if failure.kind == .cancelled {
            note(.cancelledOutcome)
            if job.cancelledAt == nil { fail(job, "a job ends as cancelled that nobody cancelled") }
            return
        }
        note(answer == nil ? .failedWithoutAnswer : .failedWithAnswer)
        guard case .closing(.failed(let kind)) = job.stage, kind == failure.kind else {
            return fail(job, "a job fails although a rule acts, or as something else than its last attempt")
        }
    }
}
