import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

extension Checker {
    /// Reads the recovery list from the top, as its documentation says: what stands above the rule that acted must
    /// not have been able to act, and the rule that acted must have been.
    func decided(_ job: JobRecord, _ attempt: Attempt, _ facts: Facts) {
        let rules = job.route.policy.recovery
        let acting = attempt.rule.flatMap { name in rules.firstIndex { $0.name == name } }
        if attempt.rule != nil, acting == nil { return fail(job, "a rule acts that the route does not have") }
        job.isRefreshHeld = holdsRefresh(job, facts)
        var isExhausted = now >= job.deadline || job.wire >= job.maxAttempts
        if now >= job.deadline { note(.deadlineSpent) }
        if job.wire >= job.maxAttempts { note(.jobSpent) }
        for index in rules.indices {
            let matchesPlainly = facts.isCaught(by: rules[index].on, isExhausted: false)
            guard matchesPlainly || isExhausted && facts.isCaught(by: rules[index].on, isExhausted: true)
            else {
                if index == acting { return fail(job, "a rule acts on a failure it does not match") }
                continue
            }
            if index == acting {
                if !matchesPlainly { note(.matchedExhausted) }
                return acted(job, attempt, facts, index)
            }
            switch passed(job, facts, index) {
            case .couldAct:
                return fail(job, "rule \(rules[index].name) matches and could act, and is passed over")
            case .spent: isExhausted = true
            case .silent: break
            }
        }
        note(.noRule)
        coverHeldBack(attempt)
        if attempt.next != nil { fail(job, "something is decided without a rule") }
        job.stage = .closing(.failed(job.isRefusedForGood ? .credentialsFailed : facts.kind))
    }

    private enum Passed {
        case couldAct
        /// It matched and had nothing left: below it the failure is also `exhausted`.
        case spent
        /// It does not take part.
        case silent
    }

    private func passed(_ job: JobRecord, _ facts: Facts, _ index: Int) -> Passed {
        switch job.route.policy.recovery[index].action {
        case .retry(let policy):
            if facts.isRetryable == false { return .silent }
            if job.uses[index] + 1 >= policy.maxAttempts {
                note(.ruleSpent)
                return .spent
            }
            guard maySendAgain(job, facts, policy.methods) else { return .spent }
            let (bounds, _) = bounds(job, facts, index, policy)
            if Double(now) + bounds.most + 1 < Double(job.deadline) { return .couldAct }
            note(.noTimeLeft)
            return .spent
        case .refreshCredentials(let maxTimes):
            guard let credential = job.route.credential, credentials[credential].definition.isFetched else {
                return .spent
            }
            if job.uses[index] < maxTimes, job.isRefreshHeld {
                note(.tokenHeld)
                return .spent
            }
            return job.uses[index] < maxTimes && maySendAgain(job, facts, .idempotentOrKeyed)
                ? .couldAct : .spent
        case .failover(let target, let methods):
            if !job.options.allowsFallback { return .silent }
            if now < job.route.coolingUntil[target] {
                note(.coolingPassed)
                return .spent
            }
            let mayEnter =
                target != 0 && !job.entered.contains(target)
                && !job.begunAt.contains(job.route.upstreams[target])
            return mayEnter && maySendAgain(job, facts, methods) ? .couldAct : .spent
        case .respond where job.isDurable, .respondStale where job.isDurable: return .silent
        case .respond: return job.options.allowsFallback ? .couldAct : .silent
        case .respondStale:
            guard job.options.allowsFallback else { return .silent }
            if keptAnswer(job) != nil { return .couldAct }
            note(.nothingKept)
            return .silent
        case .fail: return .couldAct
        default: return .silent
        }
    }

    /// Whether the job may be sent once more, as far as its allowance, its time and its request go.
    private func maySendAgain(_ job: JobRecord, _ facts: Facts, _ methods: RepeatableMethods) -> Bool {
        guard job.wire < job.maxAttempts, now < job.deadline, !job.isBodyGone else { return false }
        return !facts.mayHaveActed || isSafe(job, methods)
    }

    func isSafe(_ job: JobRecord, _ methods: RepeatableMethods) -> Bool {
        let isIdempotent = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(job.method.rawValue)
        return switch methods {
        case .any: true
        case .idempotent: isIdempotent
        case .idempotentOrKeyed: isIdempotent || job.isKeyed
        }
    }

    private func bounds(
        _ job: JobRecord,
        _ facts: Facts,
        _ index: Int,
        _ policy: RetryPolicy
    ) -> (WaitBounds, Int64?) {
        var bounds = WaitBounds(policy.backoff, retry: job.uses[index] + 1)
        guard let asked = facts.retryAfter else { return (bounds, nil) }
        guard policy.honorsRetryAfter else { return (bounds, nil) }
        let most = policy.maxRetryAfter.saturatedNanoseconds
        bounds.wait(atLeast: min(asked, most))
        return (bounds, asked)
    }

    private func acted(_ job: JobRecord, _ attempt: Attempt, _ facts: Facts, _ index: Int) {
        coverHeldBack(attempt)
        switch (job.route.policy.recovery[index].action, attempt.next) {
        case (.retry(let policy), .retry(let after)?):
            retried(job, facts, index, policy, after.saturatedNanoseconds)
        case (.refreshCredentials(let maxTimes), .refreshCredentials?):
            note(.refreshed)
            if job.uses[index] >= maxTimes { fail(job, "a rule refreshes more often than it may") }
            checkRepeat(job, facts, .idempotentOrKeyed)
            refused(job)
            if facts.sent != .neverSent { job.unspent += 1 }
            job.refreshes[index] += 1
            begin(job, at: now)
            job.stage = .attempting
        case (.failover(let target, let methods), .failover?):
            note(.failedOver)
            if !job.options.allowsFallback { fail(job, "a failover although the caller wants none") }
            if target == 0 || job.entered.contains(target) {
                fail(job, "a failover enters an upstream again")
            }
            if job.visited.contains(job.route.upstreams[target]) {
                fail(job, "a failover leads to an upstream the job was sent to before")
            }
            if now < job.route.coolingUntil[target] {
                fail(job, "a failover enters an upstream within its cool-down")
            }
            checkRepeat(job, facts, methods)
            job.entered.append(target)
            job.place = target
            begin(job, at: now)
            job.stage = .attempting
        case (.respond, .respond?):
            note(.responded)
            if job.isDurable { fail(job, "a stand-in counts as delivered") }
            if !job.options.allowsFallback { fail(job, "a placeholder although the caller wants none") }
            job.stage = .closing(.canned(rule: index))
        case (.respondStale, .respond(.stale)?):
            if !job.options.allowsFallback { fail(job, "a stale answer although the caller wants none") }
            if keptAnswer(job) == nil { fail(job, "an answer is served that is kept no more") }
            job.stage = .closing(.stale)
        case (.fail, .fail?):
            note(.stopped)
            job.stage = .closing(.failed(facts.kind))
        default: fail(job, "what is done is not the rule's action")
        }
        job.uses[index] += 1
    }

    private func retried(_ job: JobRecord, _ facts: Facts, _ index: Int, _ policy: RetryPolicy, _ wait: Int64)
    {
        note(.retried)
        if job.uses[index] + 1 >= policy.maxAttempts { fail(job, "a rule repeats more often than it may") }
        if facts.isRetryable == false { fail(job, "a failure that is not to be repeated is repeated") }
        checkRepeat(job, facts, policy.methods)
        let (bounds, asked) = bounds(job, facts, index, policy)
        if wait < 0 { fail(job, "a wait is negative") }
        if let asked, wait < min(asked, policy.maxRetryAfter.saturatedNanoseconds) {
            fail(job, "an attempt is planned before the Retry-After it honours")
        }
        if !bounds.allow(wait) { fail(job, "a wait is outside the bounds of its schedule") }
        if now + wait >= job.deadline { fail(job, "an attempt is planned at or after the job's deadline") }
        cover(policy, facts, wait)
        job.stage = .waiting(until: now + wait)
    }

    private func checkRepeat(_ job: JobRecord, _ facts: Facts, _ methods: RepeatableMethods) {
        if job.wire >= job.maxAttempts { fail(job, "an attempt is planned that the job is not allowed") }
        if now >= job.deadline { fail(job, "an attempt begins at or after the job's deadline") }
        if job.isBodyGone { fail(job, "a body that can be read once is to be sent again") }
        guard facts.mayHaveActed else { return }
        if !isSafe(job, methods) {
            fail(job, Checker.repetition(after: facts.sent))
        } else if isSafe(job, .idempotent) {
            note(.repeatedIdempotent)
        } else if isSafe(job, .idempotentOrKeyed) {
            note(.repeatedKeyed)
        } else {
            note(.repeatedAny)
        }
    }

    static func repetition(after sent: Sent) -> String {
        "a request that is not safe to repeat is repeated after "
            + (sent == .answered ? "an answer that does not refuse it" : "an unknown outcome")
    }

    private func cover(_ policy: RetryPolicy, _ facts: Facts, _ wait: Int64) {
        switch policy.backoff.schedule {
        case .constant: note(.waitConstant)
        case .exponential: note(.waitExponential)
        case .list: note(.waitList)
        }
        if wait == 0 { note(.waitZero) }
        guard let asked = facts.retryAfter else { return }
        if !policy.honorsRetryAfter { return note(.retryAfterIgnored) }
        note(.retryAfterHonoured)
        if asked > policy.maxRetryAfter.saturatedNanoseconds { note(.retryAfterClamped) }
    }

    private func coverHeldBack(_ attempt: Attempt) {
        for held in attempt.heldBack {
            switch held.reason {
            case .outcomeUnknown: note(.heldBackUnknown)
            case .mayHaveActed: note(.heldBackAnswered)
            case .bodyGone: note(.heldBackBody)
            case .deliversNothing: note(.heldBackStandIn)
            default: break
            }
        }
    }
}
