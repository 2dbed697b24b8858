import RelayPosix
import RelayRoute

/// The task or the receiver that is told the outcome of a try.
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

/// A request that was sent without a task; of three words, which stand in an existential without an allocation.
struct SentRequest: Sending {
    private let connection: LoopBound<Connection>
    private let serial: UInt64

    init(connection: Connection, serial: UInt64) {
        self.connection = LoopBound(connection, connection.loop)
        self.serial = serial
    }

    func cancel() {
        if let connection = connection.valueOnLoop { return connection.cancel(serial) }
        connection.constant(\.loop).execute { [connection, serial] in connection.value.cancel(serial) }
    }
}
