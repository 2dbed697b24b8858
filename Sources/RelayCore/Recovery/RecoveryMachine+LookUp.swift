import RelayBase
import RelayJobs
import RelayRoute

// Asking the upstream what became of an attempt.
extension RecoveryMachine {
    /// The attempts since the upstream last said that none had been carried out.
    var sinceAbsence: ArraySlice<Attempt> {
        guard route.lookUp != nil, let last = attempts.lastIndex(where: { $0.lookUp == .absent }) else {
            return attempts[...]
        }
        return attempts[(last + 1)...]
    }

    /// Whether the upstream has said of all earlier attempts that none was carried out.
    var isSettled: Bool { route.lookUp != nil && attempts.contains { $0.lookUp == .absent } }

    /// Whether the last attempt was a question.
    var isAfterLookUp: Bool { route.lookUp != nil && attempts.last?.lookUp != nil }

    /// The attempt that has begun failed so, and is asked about after that wait.
    mutating func isInDoubt(_ failure: Failure, after wait: Duration, at now: Instant) {
        _ = took(failure, at: now)
        attempts[attempts.count - 1].next = .verify(after: wait)
    }

    mutating func lookUpBegan(_ rules: LookUpRules, upstreamIndex: Int, at now: Instant, wall: Int64) -> Plan
    {
        let target = route.policy.upstreams[upstreamIndex]
        let number = (history?.attempts ?? 0) + attempts.count + 1
        var attempt = Attempt(number: number, upstream: target.name, beganAt: wall)
        attempt.lookUp = .unclear
        attempts.append(attempt)
        (began, moved, attemptLimit) = (now, .zero, rules.limit)
        return planned(number, upstreamIndex)
    }

    /// The question that has begun was answered, or could not be asked.
    mutating func lookUpEnded(
        _ word: LookUp,
        _ failure: Failure? = nil,
        status: Status? = nil,
        exchange: Exchange? = nil,
        at now: Instant
    ) {
        if let failure {
            note(failure, at: now)
        } else {
            attemptSucceeded(at: now, status: status ?? 200, exchange: exchange ?? Exchange())
        }
        attempts[attempts.count - 1].lookUp = word
        attemptLimit = RecoveryMachine.attemptLimit(route, options)
        if word == .absent { needsKey = false }
    }

    /// The question that has begun comes to nothing through no fault of its own: it is asked anew another time.
    mutating func lookUpForgotten() {
        attempts.removeLast()
        attemptLimit = RecoveryMachine.attemptLimit(route, options)
    }

    /// The upstream is asked no more, for that reason.
    mutating func asksNoMore(_ reason: HeldBack.Reason) {
        attempts[attempts.count - 1].heldBack.append(HeldBack(rule: "verify", reason: reason))
    }
}
