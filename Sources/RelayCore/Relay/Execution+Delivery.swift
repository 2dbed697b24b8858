// How the run of a durable job ends; none of this is asked of any other.
extension Execution {
    /// How the run ended; once, after the last step.
    func takeDelivery() -> Delivery {
        guard let delivery else { preconditionFailure("a run was asked for its end at the step \(step)") }
        self.delivery = nil
        return delivery
    }

    func end(_ ending: Delivery.Ending) {
        discard()
        var delivery = Delivery(ending: ending, attempts: machine.attempts)
        if case .succeeded = ending {} else { delivery.answer = lastAnswer }
        delivery.leavesDoubt = machine.leavesDoubt
        delivery.room = room
        delivery.lacksContent = lacksContent
        self.delivery = delivery
        step = .end
    }

    /// A rule decided on a wait, which the store keeps.
    func waits() {
        guard let failure, case .retry(let wait) = machine.attempts.last?.next else { return }
        end(.retry(after: wait, failure))
    }

    /// A rule took the job out of the way.
    func putAside(_ decision: RecoveryMachine.Decision, _ failure: Failure) {
        guard context.history != nil else {
            if case .pauseRoute(let reason) = decision { pauseReason = reason }
            return ended(failure)
        }
        switch decision {
        case .deadLetter: end(.dead(failure, machine.endOfGivenUp(failure) ?? .rejected))
        // The end of a pause decides about the route, not about what became of this job.
        case .pauseRoute(let reason):
            end(.routePaused(reason: reason, failure, end: machine.endOfUnsafe(failure)))
        case .hold: end(.held(failure))
        case .retry, .refreshCredentials, .failover, .respond, .respondStale, .consult, .resend, .stop, .fail:
            ended(failure)
        }
    }

    /// No rule has anything left.
    func gaveUp(_ failure: Failure) {
        if let end = machine.endOfGivenUp(failure) { return self.end(.dead(failure, end)) }
        if failure.kind == .preparation { return end(.dead(failure, .rejected)) }
        end(ports.time.now() < machine.deadline ? .dead(failure, .exhausted) : .expired(failure))
    }

    /// Ends the run after what is neither the upstream's failure nor the request's: no rule is asked.
    ///
    /// - Returns: whether the failure was such a one.
    func interrupted(by found: Failure) -> Bool {
        var failure = found
        if let redirect { failure.sent = redirect.sent(failure.sent, after: preparation.method) }
        let wasSent = failure.sent != .neverSent
        switch failure.kind {
        case .credentialsFailed where !wasSent:
            if let refused { context.memory.refused(refused, to: context.id) }
            interrupt(failure, .back(.credentials, failure))
        case .overloaded where !wasSent, .attemptUnrecorded: interrupt(failure, .back(nil, failure))
        case .storedBodyCorrupt: interrupt(failure, .dead(failure, .corrupt))
        case .cancelled, .storedBodyUnread: stopped(failure)
        default:
            // An answer that is there stands, and the rules decide about it.
            guard Task.isCancelled, failure.sent != .answered, failure.sent != .refused else { return false }
            var cancelled = Failure(.cancelled, sent: failure.sent, "the run of the job was stopped")
            cancelled.exchange = failure.exchange
            stopped(cancelled)
        }
        return true
    }

    private func stopped(_ failure: Failure) {
        interrupt(failure, endOfStopped(failure))
    }

    /// The run was stopped after an attempt that is on record.
    func stoppedWaiting(after failure: Failure) { end(endOfStopped(failure)) }

    /// A stop is no answer, nor a failure that a rule could name: what a crash would leave may be sent again.
    private func endOfStopped(_ failure: Failure) -> Delivery.Ending {
        guard failure.sent.mayHaveActed, !machine.mayRepeatAfterCrash else { return .back(nil, failure) }
        return .dead(failure, failure.sent == .answered ? .notRepeatable : .outcomeUnknown)
    }

    private func interrupt(_ failure: Failure, _ ending: Delivery.Ending) {
        machine.attemptInterrupted(failure, at: ports.time.now())
        if failure.sent != .neverSent, let attempt = machine.attempts.last {
            ports.sink.record(.attemptFailed(context, attempt))
        }
        end(ending)
    }
}
