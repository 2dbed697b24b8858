public import RelayBase
import RelayPosix
public import RelayRoute
import Synchronization

/// The transport of a program that has no event loop: it starts one with the first request and keeps it.
public final class SocketTransport: Transport {
    private let secrets: @Sendable (SecretReference) -> Secret?
    private let transport = Mutex<LoopTransport?>(nil)

    /// - Parameter secrets: reads a client certificate or key.
    public init(secrets: @escaping @Sendable (SecretReference) -> Secret? = { _ in nil }) {
        self.secrets = secrets
    }

    deinit {
        guard let loop = transport.withLock({ $0?.loop }) else { return }
        transport.withLock { $0 = nil }
        loop.stop()
    }

    /// Sends one attempt over a pooled connection, or over one that is dialled for it.
    public func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        try await running().send(request)
    }

    private func running() throws(Failure) -> LoopTransport {
        let result: Result<LoopTransport, PosixError> = transport.withLock { transport in
            if let transport { return .success(transport) }
            return Result { () throws(PosixError) in
                let started = LoopTransport(on: try EventLoop.start(name: "relay"), secrets: secrets)
                transport = started
                return started
            }
        }
        switch result {
        case .success(let transport): return transport
        case .failure(let error):
            throw Failure(.overloaded, sent: .neverSent, "cannot start the transport: \(error)")
        }
    }
}
