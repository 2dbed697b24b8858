import RelayCore

/// Who is told what came of a try.
@safe enum ExchangeWaiter {
    case task(UnsafeContinuation<ExchangeOutcome, Never>)
    /// Has no task, and is told on the spot.
    case receiver(any AnswerReceiver, LoopTransport, OutboundRequest)

    func resume(_ outcome: ExchangeOutcome) {
        switch self {
        case .task(let continuation): unsafe continuation.resume(returning: outcome)
        case .receiver(let receiver, let transport, let request):
            receiver.received(transport.result(of: request, outcome))
        }
    }
}

/// A request that was sent without a task.
struct SentRequest: Sending {
    let connection: Connection
    let serial: UInt64

    func cancel() { connection.cancel(serial) }
}
