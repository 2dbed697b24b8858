import RelayBase
import RelayJobs
import RelayRoute

// Asking the upstream what became of an attempt.
extension RecoveryMachine {
    /// Whether the upstream to which that attempt went, or the one that is asked for all, has said since that it was not
    /// carried out.
    func isSettled(_ index: Int) -> Bool {
        guard let rules = route.lookUp else { return false }
        let knowsAll = rules.settings.upstream != nil
        return attempts[(index + 1)...].contains {
            $0.lookUp == .absent && (knowsAll || $0.upstream == attempts[index].upstream)
        }
    }

    /// Whether any attempt of the run may have been carried out of which no upstream has said that it was not.
    private var isOpen: Bool {
        attempts.indices.contains {
            attempts[$0].lookUp == nil && attempts[$0].failure?.sent.mayHaveActed == true && !isSettled($0)
        }
    }

    /// Whether it has been said of all earlier attempts that none was carried out, by whom each had gone to.
    var isSettled: Bool {
        guard let rules = route.lookUp, attempts.contains(where: { $0.lookUp == .absent }) else {
            return false
        }
        if rules.settings.upstream != nil || route.policy.upstreams.count == 1 { return true }
        return !isOpen
            && (history?.unsettled ?? []).allSatisfy { name in
                attempts.contains { $0.lookUp == .absent && $0.upstream == name }
            }
    }

    /// Whether the last attempt was a question.
    var isAfterLookUp: Bool { route.asks && attempts.last?.lookUp != nil }

    /// The attempt that has begun failed so, and is asked about after that wait.
    mutating func isInDoubt(_ failure: Failure, after wait: Duration, at now: Instant) {
        _ = took(failure, at: now)
        attempts[attempts.count - 1].next = .verify(after: wait)
    }

    /// The answer of the attempt that has begun is an operation, which is looked at after that wait.
    mutating func operationBegan(at reference: String, after wait: Duration) {
        attempts[attempts.count - 1].next = .follow(after: wait, at: reference)
        countedAttempts += 1
        unsentInARow = 0
    }

    /// The look that has begun came to nothing, and there is another after that wait.
    mutating func followsOn(after wait: Duration) {
        attempts[attempts.count - 1].next = .follow(after: wait, at: nil)
    }

    /// A question of the relay's own begins, which takes as long as `limit` lets it, or an attempt may.
    mutating func lookUpBegan(
        _ limit: TimeLimit?,
        _ word: LookUp = .unclear,
        upstreamIndex: Int,
        at now: Instant,
        wall: Int64
    ) -> Plan {
        let target = route.policy.upstreams[upstreamIndex]
        let number = (history?.attempts ?? 0) + attempts.count + 1
        var attempt = Attempt(number: number, upstream: target.name, beganAt: wall)
        attempt.lookUp = word
        attempts.append(attempt)
        (began, sentAt, moved, attemptLimit) = (now, now, .zero, limit ?? attemptLimit)
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
        if word == .absent { needsKey = !method.isIdempotent && isOpen }
    }

    /// The question that has begun comes to nothing through no fault of its own: it is asked anew another time.
    mutating func lookUpForgotten() {
        attempts.removeLast()
        attemptLimit = RecoveryMachine.attemptLimit(route, options)
    }

    /// The upstream is asked no more, for that reason.
    mutating func asksNoMore(_ reason: HeldBack.Reason, _ setting: String = "verify") {
        attempts[attempts.count - 1].heldBack.append(HeldBack(rule: setting, reason: reason))
    }
}
