import RelayHTTP
package import RelayRoute

/// The kept connections of a pool, as requests that are passed through take them.
final class PassThroughPool: PassThroughUpstream {
    private let pool: OriginPool
    private let transport: LoopTransport

    init(_ pool: OriginPool, _ transport: LoopTransport) {
        self.pool = pool
        self.transport = transport
    }

    var hostLine: [UInt8] { pool.hostLine }
    var isOver: Bool { pool.isClosed }

    func take(now: Int64) -> (any PassThroughSender)? {
        guard let connection = pool.take(now: now) else { return nil }
        // The ordinary path looks at what came before a request was sent, and tells of pins that were missed.
        guard !connection.isReadable, !connection.missedPins else {
            pool.keep(connection)
            return nil
        }
        connection.passThroughPool = self
        return connection
    }

    /// The ordinary path's outcome of a request that this pool's connection carried.
    func waiter(_ receiver: any AnswerReceiver, _ request: OutboundRequest) -> ExchangeWaiter {
        .receiver(receiver, transport, request)
    }
}

extension LoopTransport: PassThroughTransport {
    package func passThroughUpstream(for upstream: Upstream) -> any PassThroughUpstream {
        PassThroughPool(pool(for: upstream), self)
    }
}
