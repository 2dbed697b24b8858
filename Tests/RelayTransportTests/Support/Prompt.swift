import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

/// When a request without a task is given up.
enum Cancelling {
    case never
    case atOnce
    /// When that happens.
    case when(Gate)
    /// After it has been told.
    case late
}

/// The outcome of a request without a task.
enum Prompted: Sendable {
    case told(PromptResult)
    case refused(Failure)
}

/// Has to be told after who sends has gone on.
final class Receiver: AnswerReceiver {
    var hasReturned = false
    private let tell: (PromptResult) -> Void

    init(_ tell: @escaping (PromptResult) -> Void) { self.tell = tell }

    func received(_ result: PromptResult) {
        #expect(hasReturned)
        tell(result)
    }
}

extension LoopTransport {
    func prompt(_ request: OutboundRequest, cancels: Cancelling = .never) async -> Prompted {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                var sending: (any Sending)?
                let receiver = Receiver { result in
                    if case .late = cancels { sending?.cancel() }
                    continuation.resume(returning: .told(result))
                }
                do throws(Failure) {
                    sending = try sendNow(request, receiver)
                } catch {
                    return continuation.resume(returning: .refused(error))
                }
                receiver.hasReturned = true
                switch cancels {
                case .atOnce: sending?.cancel()
                case .when(let gate):
                    guard let sent = sending else { return }
                    loop.spawn {
                        await gate.wait()
                        sent.cancel()
                    }
                case .never, .late: break
                }
            }
        }
    }
}
