import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

// The requests that are sent, whatever a program's code claims.
extension Checker {
    /// Attempts that may have reached an upstream, the one at hand included.
    func wire(_ job: JobRecord) -> Int { job.wire + (job.program?.hasReached == true ? 1 : 0) }

    func reached(_ job: JobRecord) {
        guard let program = job.program else { return }
        program.hasReached = true
        if wire(job) > job.maxAttempts {
            fail(job, "more attempts may have reached an upstream than the job is allowed")
        }
    }

    /// An attempt of a program's job is sent, not on its way along a redirect.
    func sentByProgram(_ job: JobRecord, _ request: OutboundRequest, key: String?) {
        guard let program = job.program else { return }
        if program.isPreparing || program.isUnprepared {
            fail(job, "a request is sent whose preparation failed")
        }
        guard program.phase == .began, program.sending == nil else {
            return fail(job, "an attempt is sent that did not begin")
        }
        var method = request.method
        if plant == .hidesMethod, job.number % 2 == 0 { method = .post }
        let isSwapped = plant == .swapsKey && job.attemptBegan.count > 1
        let key = isSwapped ? key.map { $0 + "2" } : key
        program.sending = ProgramRecord.Sending(method: method, key: key)
        if let needed = program.neededKey, key != needed {
            fail(job, "a request is repeated after an unknown outcome without the key it had")
        }
    }

    /// The wire's verdict on how far the attempt at hand was sent.
    func wireVerdict(_ job: JobRecord) -> Sent {
        guard case .judging(let reply, let stream) = job.stage else { return .neverSent }
        var sent = Sent.answered
        switch reply {
        case .fails(_, let found): sent = found
        case .answers: if stream?.failure != nil { sent = .unknown }
        }
        return job.hops > 0 && (sent != .answered || job.hopDropped) ? .unknown : sent
    }

    /// Whether a verdict about an answer is one that its status, or a status of its route's, gives it.
    private func isVerdict(_ sent: Sent, ofAnswerTo job: JobRecord) -> Bool {
        guard case .judging(.answers(let answer), _) = job.stage else { return sent == .answered }
        let policy = job.route.policy
        let asked = answer.retryAfter?.wait(wallSeconds: job.repliedWallSeconds)
        func refuses(_ status: UInt16) -> Bool {
            (400..<500).contains(status) || status == 503 && asked != nil
        }
        let own = refuses(answer.status) && !policy.success.statuses.has(answer.status)
        let given = policy.errorTypes.compactMap { $0.treatAsStatus?.rawValue }
        switch sent {
        case .refused: return job.hopsAsk && (own || given.contains(where: refuses))
        case .answered: return !own || !job.hopsAsk || given.contains { !refuses($0) }
        case .neverSent, .unknown: return false
        }
    }

    /// An attempt of a program's job failed, with what follows.
    func programFailed(_ job: JobRecord, _ program: ProgramRecord, _ failure: Failure, _ attempt: Attempt) {
        if job.cancelledAt != nil { return attemptCancelled(job, failure, attempt) }
        let sent = wireVerdict(job)
        let isTrue = sent == .answered ? isVerdict(failure.sent, ofAnswerTo: job) : failure.sent == sent
        if !isTrue { fail(job, "a failure's verdict is not what happened on the wire") }
        job.wire = wire(job)
        program.unsentInARow = sent == .neverSent ? program.unsentInARow + 1 : 0
        program.hasReached = false
        if program.isPreparing {
            program.isUnprepared = true
            program.isPreparing = false
        }
        if case .attempting = job.stage, failure.kind == .preparation, !program.isRenamed,
            !program.isUnprepared, !program.changesKey
        {
            fail(job, "a request that was prepared is not sent")
        }
        guard let next = attempt.next else {
            job.stage = .closing(.failed(failure.kind))
            return
        }
        if program.isUnprepared { fail(job, "a failed preparation is not final") }
        guard let index = job.route.policy.recovery.firstIndex(where: { $0.name == attempt.rule }) else {
            return fail(job, "something is decided without a rule")
        }
        programDecided(job, failure.sent, index, next)
        job.uses[index] += 1
    }

    private func programDecided(_ job: JobRecord, _ sent: Sent, _ index: Int, _ next: Attempt.Next) {
        guard let program = job.program else { return }
        let rule = job.route.policy.recovery[index]
        switch (rule.action, next) {
        case (.consult(_, let methods), .retry(let after)):
            guard case .retry(let wanted)? = program.advice[rule.name] else {
                return fail(job, "a strategy is said to retry that did not")
            }
            var bounds = WaitBounds(unsentInARow: program.unsentInARow)
            bounds.wait(atLeast: wanted)
            if !bounds.allow(after.saturatedNanoseconds) { fail(job, "a strategy's wait is changed") }
            note(.programRetried)
            repeats(job, sent, methods, after.saturatedNanoseconds)
        case (.consult, .fail):
            guard case .stop? = program.advice[rule.name] else {
                return fail(job, "a strategy is said to stop that did not")
            }
            job.stage = .closing(.failed(.cancelled))
        case (.retry(let policy), .retry(let after)):
            if job.uses[index] + 1 >= policy.maxAttempts {
                fail(job, "a rule repeats more often than it may")
            }
            repeats(job, sent, policy.methods, after.saturatedNanoseconds)
        case (.refreshCredentials(let times), .refreshCredentials):
            if job.uses[index] >= times { fail(job, "a rule refreshes more often than it may") }
            refused(job)
            repeats(job, sent, .idempotentOrKeyed, 0)
        case (.failover(let target, let methods), .failover):
            if target == 0 || job.entered.contains(target) {
                fail(job, "a failover enters an upstream again")
            }
            job.entered.append(target)
            job.place = target
            repeats(job, sent, methods, 0)
        case (.respond, .respond): job.stage = .closing(.canned(rule: index))
        case (.respondStale, .respond(.stale)): job.stage = .closing(.stale)
        case (.fail, .fail): job.stage = .closing(.failed(.cancelled))
        default: fail(job, "what is done is not the rule's action")
        }
    }

    private func repeats(_ job: JobRecord, _ sent: Sent, _ methods: RepeatableMethods, _ wait: Int64) {
        guard let program = job.program else { return }
        if job.wire >= job.maxAttempts { fail(job, "an attempt is planned that the job is not allowed") }
        if wait < 0 { fail(job, "a wait is negative") }
        if now + wait >= job.deadline { fail(job, "an attempt is planned at or after the job's deadline") }
        job.isDue = true
        job.stage = .waiting(until: now + wait)
        if methods == .any { program.neededKey = nil }
        guard sent == .unknown || sent == .answered, methods != .any else { return }
        let method = program.sending?.method ?? job.method
        if ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method.rawValue) { return }
        guard methods == .idempotentOrKeyed, job.options.hasIdempotencyKey || program.sending?.key != nil
        else { return fail(job, Checker.repetition(after: sent)) }
        if !job.options.hasIdempotencyKey { program.neededKey = program.sending?.key }
        note(.programKeyed)
    }
}
