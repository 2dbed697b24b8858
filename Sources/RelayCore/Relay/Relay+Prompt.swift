import RelayBase
import RelayJobs
package import RelayRoute

// A job without a task, as long as it waits for nothing but its upstream and the time.
extension Relay {
    /// How far a job got without a task.
    package enum Progress {
        /// The upstream is asked, or a moment is waited for; what comes of it comes to `tell`.
        case sent
        /// The next step takes a task: `run` goes on from there.
        case waits
        case ended
    }

    /// Goes on as far as that needs no task.
    package func goOn(_ execution: Execution, _ receiver: any AnswerReceiver) -> Progress {
        guard let transport = ports.promptTransport else { return .waits }
        while true {
            execution.advance()
            switch execution.machine.turn {
            case .send:
                guard execution.machine.hasBodyAtHand, isOnRecord(execution) else { return .waits }
                do throws(Failure) {
                    if execution.isGivenUp {
                        throw Failure(.cancelled, sent: .neverSent, "the request was cancelled")
                    }
                    let request = try execution.machine.outbound(execution.moment, signer: ports.signer)
                    execution.sending = try transport.sendNow(request, receiver)
                    return .sent
                } catch {
                    execution.machine.failed(error, execution.moment)
                }
            case .token:
                guard let result = readyToken(execution) else { return .waits }
                execution.obtained(result)
            case .pause:
                guard let time = ports.promptTime, let until = execution.pauseBegins() else { return .waits }
                if execution.isGivenUp {
                    execution.pauseEnds(isCancelled: true)
                    break
                }
                execution.sending = time.wake(receiver, at: until)
                return .sent
            case .wait: return .waits
            case .answer: break
            case .ended: return .ended
            }
        }
    }

    /// Whether jobs may be driven without a task, on the thread of their transport.
    package var isPrompt: Bool { ports.promptTransport != nil }

    /// Whether the attempt that comes next is on record, or needs not to be; it is told of then.
    private func isOnRecord(_ execution: Execution) -> Bool {
        guard let log = execution.machine.context.history?.log,
            let attempt = execution.machine.recovery.attempts.last
        else { return true }
        guard let isNew = log.beginNow(attempt) else { return false }
        if isNew { ports.sink.record(.attemptBegan(execution.machine.context, attempt)) }
        return true
    }

    /// Takes what came of the request that was sent, or of the wait.
    package func tell(
        _ execution: Execution,
        _ result: PromptResult,
        _ receiver: any AnswerReceiver
    ) -> Progress {
        execution.sending = nil
        switch result {
        case .answer(let inbound): execution.machine.received(inbound, execution.moment)
        case .failure(let failure): execution.machine.failed(failure, execution.moment)
        case .gone(let again):
            execution.again = again
            return .waits
        case .woken: execution.pauseEnds(isCancelled: execution.isGivenUp)
        }
        return goOn(execution, receiver)
    }
}
