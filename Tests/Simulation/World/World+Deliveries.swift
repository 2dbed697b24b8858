import RelayBase
import RelayCore
import RelayJobs

// A store in a few lines: what a durable job brings along from run to run, and the waits between.
extension Confined where Value == World {
    /// Runs a durable job until it is over or its caller stops it.
    func deliver(
        _ relay: Relay,
        _ request: HTTPRequest,
        _ first: JobContext,
        _ vault: CredentialVault,
        by deadline: Int64
    ) async {
        let number = Int(first.id.low)
        var history = JobHistory()
        history.deadline = Instant(nanoseconds: deadline)
        while true {
            let delivery: Delivery
            if value.plant == .deliversStandIn {
                let outcome = await relay.perform(request, context: first, vault: vault)
                delivery = Delivery(first, outcome)
            } else {
                let context = JobContext(
                    id: first.id,
                    route: first.route,
                    method: first.method,
                    target: first.target,
                    options: first.options,
                    client: nil,
                    memory: first.memory,
                    history: history
                )
                delivery = await relay.deliver(request, context: context, vault: vault)
            }
            guard let until = value.checker.delivered(number, delivery) else { return }
            carry(delivery, into: &history)
            guard await pause(until: until) else { return value.checker.stoppedWaiting(number) }
        }
    }

    private func carry(_ delivery: Delivery, into history: inout JobHistory) {
        for attempt in delivery.attempts {
            history.attempts += 1
            if attempt.isSpent { history.spentAttempts += 1 }
            switch value.plant {
            case .forgetsUses: break
            case .chargesFetches: if let rule = attempt.rule { history.ruleUses[rule, default: 0] += 1 }
            default: history.count(attempt)
            }
            if value.plant == .burnsRefusal, attempt.failure?.kind == .credentialsFailed {
                history.spentAttempts += 1
            }
        }
        if value.plant == .burnsWait, case .requeued(_, .credentials) = delivery.ending {
            history.spentAttempts += 1
        }
    }
}

extension Delivery {
    /// The outcome of a delivery that is made like a request whose caller waits.
    fileprivate init(_ context: JobContext, _ outcome: Outcome) {
        let (answer, attempts) = (outcome.answer, outcome.attempts)
        if outcome.failure == nil, let answer, let source = outcome.report.source {
            self.init(context, answer, by: source, attempts: attempts)
        } else {
            self.init(context, .dead(.exhausted), outcome.failure, answer: answer, attempts: attempts)
        }
    }
}
