import RelayBase
import RelayJobs
package import RelayRoute

// A job without a task, as long as it waits for nothing but its upstream and the time.
extension Execution {
    /// How far a job got without a task.
    package enum Progress {
        /// The upstream is asked, or a moment is waited for; what comes of it comes to `tell`.
        case sent
        /// The next step takes a task: `run` goes on from there.
        case waits
        case ended
    }

    /// Goes on as far as that needs no task.
    package func goOn(_ receiver: any AnswerReceiver) -> Progress {
        guard let transport = ports.promptTransport else { return .waits }
        while true {
            advance()
            switch machine.driverStep {
            case .send:
                guard machine.isPrompt, isOnRecord else { return .waits }
                do throws(Failure) {
                    if isGivenUp {
                        throw Failure(.cancelled, sent: .neverSent, "the request was cancelled")
                    }
                    let request = try machine.outbound(moment, signer: ports.signer)
                    pending = try transport.sendNow(request, receiver)
                    return .sent
                } catch {
                    machine.failed(error, moment)
                }
            case .token:
                guard let result = readyToken else { return .waits }
                obtained(result)
            case .pause:
                guard let time = ports.promptTime, !machine.isFollowing, let until = beginPause() else {
                    return .waits
                }
                if isGivenUp {
                    endPause(isCancelled: true)
                    break
                }
                pending = time.wake(receiver, at: until)
                return .sent
            case .wait: return .waits
            case .answer: break
            case .ended: return machine.owesStop ? .waits : .ended
            }
        }
    }

    /// Whether the attempt that comes next is on record, or needs not to be; it is told of then.
    private var isOnRecord: Bool {
        guard let log = context.history?.log, let attempt = machine.recovery.attempts.last else {
            return true
        }
        guard let isNew = log.beginNow(attempt) else { return false }
        if isNew { ports.sink.record(.attemptBegan(context, attempt)) }
        return true
    }

    /// Takes what came of the request that was sent, or of the wait.
    package func tell(_ result: PromptResult, _ receiver: any AnswerReceiver) -> Progress {
        pending = nil
        switch result {
        case .answer(let inbound): machine.received(inbound, moment)
        case .failure(let failure): machine.failed(failure, moment)
        case .gone(let again):
            resend = again
            return .waits
        case .woken: endPause(isCancelled: isGivenUp)
        }
        return goOn(receiver)
    }
}
