import RelayBase
import RelayJobs
import RelayRoute

// Answering now, and going on as a kept job.
extension RecoveryMachine {
    /// The prospect of the request if it were kept.
    private enum Prospect {
        /// The job is due after that, by the rule of that name; nil where none has to be asked.
        case due(after: Duration, by: String?)
        case none(HeldBack.Reason)
    }

    /// Decides to answer in the upstream's stead, and whether the request is kept where the rule wants that.
    mutating func respond(
        _ rule: RecoveryRule,
        _ index: Int,
        _ source: StandIn,
        _ decision: Decision,
        _ failure: Failure,
        _ situation: Situation
    ) -> Decision? {
        guard rule.keepsRequest, !rule.reports else { return decide(rule, index, .respond(source), decision) }
        switch prospect(failure, situation) {
        case .due(let wait, let resending):
            keepsAfter = wait
            attempts[attempts.count - 1].resentBy = resending
            return decide(rule, index, .respondAndKeep(source), decision)
        case .none(let reason):
            held(rule, .notKept(reason))
            return decide(rule, index, .respond(source), decision)
        }
    }

    /// The request could not be kept after all.
    mutating func notKept(_ reason: HeldBack.Reason) {
        guard let last = attempts.last, let rule = last.rule, case .respondAndKeep(let source)? = last.next
        else { return }
        keepsAfter = nil
        attempts[attempts.count - 1].resentBy = nil
        attempts[attempts.count - 1].next = .respond(source)
        attempts[attempts.count - 1].heldBack.append(HeldBack(rule: rule, reason: .notKept(reason)))
    }

    /// The verdict on the same failure by the rules for kept jobs, with what the request has spent of them: it is kept
    /// if they would send it again.
    private func prospect(_ failure: Failure, _ situation: Situation) -> Prospect {
        guard situation.canRepeat else { return .none(.bodyGone) }
        // A failure that is not the request's fault is not the job's, which waits and spends nothing on it.
        if failure.isHold || failure.sent == .neverSent && isOfNoRule(failure.kind) {
            return hasAttemptsLeftWhenKept
                ? .due(after: .zero, by: nil) : .none(.attemptsSpent(maxAttemptsWhenKept))
        }
        guard let last = attempts.last else { return .none(.noRuleRepeats) }
        var kept = RecoveryMachine(
            route: route,
            method: method,
            options: options,
            now: situation.now,
            history: history(before: last, situation)
        )
        (kept.attempts, kept.needsKey) = ([last], needsKey)
        kept.attempts[0].heldBack = []
        let decision = kept.attemptFailed(failure, situation)
        let rule = kept.attempts[0].rule
        switch decision {
        case .retry(let at): return .due(after: situation.now.duration(to: at), by: rule)
        case .refreshCredentials, .failover: return .due(after: .zero, by: rule)
        case .respond, .respondStale, .consult, .resend, .stop, .fail, .deadLetter, .pauseRoute, .hold:
            let reasons = kept.attempts[0].heldBack.map(\.reason).filter { $0 != .deliversNothing }
            let verdict = reasons.first { $0 == .outcomeUnknown || $0 == .mayHaveActed }
            return .none(verdict ?? reasons.last ?? .noRuleRepeats)
        }
    }

    private func isOfNoRule(_ kind: FailureKind) -> Bool { kind == .credentialsFailed || kind == .overloaded }

    private var maxAttemptsWhenKept: Int { route.maxAttempts(options, isDurable: true) }

    private var hasAttemptsLeftWhenKept: Bool { countedAttempts < maxAttemptsWhenKept }

    /// The history that a kept job would have before its last attempt.
    private func history(before last: Attempt, _ situation: Situation) -> JobHistory {
        var history = JobHistory()
        history.deadline = situation.now.advanced(by: route.policy.delivery.expiresAfter)
        history.attempts = attempts.count - 1
        history.spentAttempts = countedAttempts - (last.sent == .neverSent ? 0 : 1)
        for attempt in attempts.dropLast() {
            if let rule = attempt.rule { history.ruleUses[rule, default: 0] += 1 }
            for held in attempt.heldBack where held.reason.isReport {
                history.ruleUses[held.rule, default: 0] += 1
            }
        }
        return history
    }
}
