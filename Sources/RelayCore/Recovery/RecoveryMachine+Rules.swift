import RelayBase
import RelayJobs
import RelayRoute

extension RecoveryMachine {
    /// Reads the rules from `first` on until one decides.
    mutating func read(
        from first: Int,
        _ failure: Failure,
        _ situation: Situation,
        isExhausted: Bool
    ) -> Decision {
        var isExhausted = isExhausted
        let rules = rules
        for index in rules.indices.dropFirst(first)
        where rules[index].matches(failure, isExhausted: isExhausted, situation.hold?.cause) {
            let rule = rules[index]
            if failure.isHold, situation.waits {
                switch rule.action {
                case .failover: break
                // Somebody who may have an answer at once need not wait for one.
                case .respond, .respondStale:
                    guard !isDurable, situation.hold?.reason == .throttled else { continue }
                default: continue
                }
            }
            if failure.isOfOperation, isDurable ? rule.mayLeadToRepeating : rule.repeats,
                !rule.on.names(failure.kind)
            {
                held(rule, .operationBegan)
                continue
            }
            switch rule.action {
            case .respond where isDurable, .respondStale where isDurable: held(rule, .deliversNothing)
            case .failover where !options.allowsFallback, .respond where !options.allowsFallback,
                .respondStale where !options.allowsFallback:
                held(rule, .fallbackOff)
            case .retry(let policy):
                guard failure.isRetryable != false else {
                    held(rule, .notRetryable)
                    continue
                }
                guard rule.on.matches(failure, isExhausted: isExhausted), failure.kind != .routeClosed else {
                    held(rule, .leftAlone)
                    if !rule.reports { isExhausted = true }
                    continue
                }
                let at = situation.now.advanced(by: wait(policy, index, failure, situation))
                var later = situation
                // After the wait the store gives the body once more.
                if isDurable { later.canRepeat = true }
                guard
                    let reason = spent(policy, index) ?? obstacle(failure, policy.methods, later)
                        ?? lateness(at, situation) ?? spentBudget(situation)
                else {
                    if !isDurable, !situation.hasBudget, !rule.reports { reported(.budget) }
                    let next = Attempt.Next.retry(after: situation.now.duration(to: at))
                    if let decision = decide(rule, index, next, .retry(at: at)) { return decision }
                    continue
                }
                held(rule, reason)
                if !rule.reports { isExhausted = true }
            case .refreshCredentials(let maxTimes):
                guard
                    let reason = spentRefreshes(maxTimes, index, situation)
                        ?? obstacle(failure, .idempotentOrKeyed, situation)
                else {
                    if let decision = decide(rule, index, .refreshCredentials, .refreshCredentials) {
                        return decision
                    }
                    continue
                }
                held(rule, reason)
                if !rule.reports { isExhausted = true }
            case .failover(let target, let methods):
                guard
                    let reason = unavailable(target, situation)
                        ?? obstacle(failure, methods, situation)
                else {
                    let next = Attempt.Next.failover(to: route.policy.upstreams[target].name)
                    guard let decision = decide(rule, index, next, .failover) else { continue }
                    upstream = target
                    return decision
                }
                held(rule, reason)
                if !rule.reports { isExhausted = true }
            case .respond(let canned):
                let decision = Decision.respond(canned)
                if let decision = respond(rule, index, canned.source, decision, failure, situation) {
                    return decision
                }
            case .respondStale:
                guard situation.hasStale else {
                    held(rule, .nothingKept)
                    continue
                }
                if let decision = respond(rule, index, .stale, .respondStale, failure, situation) {
                    return decision
                }
            case .consult(let strategy, _):
                consulted = (index, failure, isExhausted)
                return .consult(strategy)
            case .fail: if let decision = decide(rule, index, .fail, .fail) { return decision }
            case .deadLetter:
                if let decision = decide(rule, index, .deadLetter, .deadLetter) { return decision }
            case .pauseRoute(let reason):
                let decision = Decision.pauseRoute(reason: reason)
                if let decision = decide(rule, index, .pauseRoute, decision) { return decision }
            case .hold: if let decision = decide(rule, index, .hold, .hold) { return decision }
            }
        }
        return .fail
    }

    /// The rule acts, where it does more than tell.
    ///
    /// - Returns: nil where it only tells: those below it are asked as if it were not there, and it has used up what it
    ///   would have.
    mutating func decide(
        _ rule: RecoveryRule,
        _ index: Int,
        _ next: Attempt.Next,
        _ decision: Decision
    ) -> Decision? {
        if uses.isEmpty { uses = Array(repeating: 0, count: rules.count) }
        if rule.reports {
            held(rule, .reported(next.would))
            uses[index] += 1
            return nil
        }
        attempts[attempts.count - 1].rule = rule.name
        attempts[attempts.count - 1].next = next
        if attempts[attempts.count - 1].chargedRule != nil { uses[index] += 1 }
        return decision
    }

    mutating func held(_ rule: RecoveryRule, _ reason: HeldBack.Reason) {
        attempts[attempts.count - 1].heldBack.append(HeldBack(rule: rule.name, reason: reason))
    }
}

// The reasons that keep a rule from acting; nil when none does.
extension RecoveryMachine {
    var isDurable: Bool { history != nil }

    var hasAttemptsLeft: Bool {
        countedAttempts < maxAttempts && unsentAttempts < RecoveryMachine.unsentLimit
    }

    private func count(_ rule: Int) -> Int { uses.isEmpty ? 0 : uses[rule] }

    private func wait(
        _ policy: RetryPolicy,
        _ index: Int,
        _ failure: Failure,
        _ situation: Situation
    ) -> Duration {
        let wait =
            failure.blamed == .tooMany
            ? RecoveryRule.untilCapacity.wait(beforeRetry: refusals, random: situation.random)
            : policy.backoff.wait(beforeRetry: count(index) + 1, random: situation.random)
        guard policy.honorsRetryAfter, let asked = failure.retryAfter else { return wait }
        return max(wait, min(asked, policy.maxRetryAfter))
    }

    /// Attempts of a kept job that were refused as one too many, the last one included.
    private var refusals: Int { max(1, refused) }

    private var refused: Int { (history?.sparedAttempts ?? 0) + attempts.count { $0.isSpared } }

    /// Whether an attempt that was refused as one too many costs nothing, though its answer does not say so in so many words:
    /// four times, since it may be the job that is refused.
    var sparesRefusals: Bool { isDurable && route.policy.deliversLater && refused < 4 }

    private func spent(_ policy: RetryPolicy, _ index: Int) -> HeldBack.Reason? {
        count(index) + 1 < policy.maxAttempts ? nil : .ruleSpent(policy.maxAttempts)
    }

    /// The load that a kept job adds is asked about when the job is claimed again.
    func spentBudget(_ situation: Situation) -> HeldBack.Reason? {
        isDurable || situation.hasBudget || route.reporting.contains(.budget) ? nil : .budgetSpent
    }

    private func spentRefreshes(
        _ maxTimes: Int,
        _ index: Int,
        _ situation: Situation
    ) -> HeldBack.Reason? {
        guard situation.canRefresh else { return .noCredential }
        guard count(index) < maxTimes else { return .refreshesSpent(maxTimes) }
        return situation.refreshHeld.map { .freshTokenRefused(for: $0) }
    }

    /// Whether an answer refused the credential, and a rule would fetch another.
    func refusesCredential(_ failure: Failure) -> Bool {
        guard let status = failure.treatedAsStatus ?? failure.status, status == 401 || status == 403 else {
            return false
        }
        return rules.contains { rule in
            guard case .refreshCredentials = rule.action else { return false }
            return rule.on.matches(failure, isExhausted: false)
        }
    }

    private func unavailable(_ target: Int, _ situation: Situation) -> HeldBack.Reason? {
        if target == 0 || entered.contains(target) { return .entered(route.policy.upstreams[target].name) }
        return situation.cooling.contains(target) ? .cooling(route.policy.upstreams[target].name) : nil
    }

    func lateness(_ at: Instant, _ situation: Situation) -> HeldBack.Reason? {
        at < deadline ? nil : .deadline(wait: situation.now.duration(to: at))
    }

    /// The verdict rule (RFC 9110 §9.2.2): what was never sent or was refused may always be sent again, and what may
    /// have been carried out only when repeating it is safe.
    func obstacle(
        _ failure: Failure,
        _ methods: RepeatableMethods,
        _ situation: Situation
    ) -> HeldBack.Reason? {
        guard situation.now < deadline else { return .deadline(wait: .zero) }
        guard countedAttempts < maxAttempts else { return .attemptsSpent(maxAttempts) }
        guard hasAttemptsLeft else { return .neverSent(RecoveryMachine.unsentLimit) }
        guard situation.canRepeat else { return .bodyGone }
        let unsafe: HeldBack.Reason = failure.sent == .answered ? .mayHaveActed : .outcomeUnknown
        if needsKey, !situation.keepsKey, methods != .any { return unsafe }
        guard failure.sent.mayHaveActed else { return nil }
        let isKeyed = options.hasIdempotencyKey && situation.keepsKey
        return methods.allow(method, isKeyed: isKeyed) ? nil : unsafe
    }

    /// How a durable job ends that may have been carried out and may not be repeated; nil of every other.
    func endOfUnsafe(_ failure: Failure) -> EndReason? {
        guard failure.sent.mayHaveActed else { return nil }
        let isKeyed = options.hasIdempotencyKey
        let mayRepeat =
            switch failure.kind {
            // An attempt that the relay itself cut off has no failure for a rule to name: a crash would leave the same.
            case .cancelled, .storedBodyUnread: route.mayRepeatAfterCrash(method, isKeyed: isKeyed)
            default: route.mayRepeat(method, isKeyed: isKeyed, after: failure, isExhausted: true)
            }
        if mayRepeat { return nil }
        return failure.sent == .answered ? .notRepeatable : .outcomeUnknown
    }

    /// Whether any attempt of the run may have been carried out and may not be repeated.
    var isUncertain: Bool {
        attempts.indices.contains { index in
            attempts[index].lookUp == nil && attempts[index].failure.map { endOfUnsafe($0) != nil } ?? false
                && !isSettled(index)
        }
    }

    /// How a durable job ends that is given up: what an earlier life left in doubt stays so, however this one failed.
    func endOfGivenUp(_ failure: Failure) -> EndReason? {
        endOfUnsafe(failure) ?? (history?.isInDoubt == true && !isSettled ? .outcomeUnknown : nil)
    }
}
