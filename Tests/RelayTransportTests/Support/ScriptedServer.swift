import Glibc
import RelayPosix
import RelayRoute
import Synchronization
import Testing

/// Accepts connections on loopback or a path, and runs a script on each, on its own thread.
final class ScriptedServer: Sendable {
    let address: SocketAddress
    private let listener: Int32
    private let accepted = Atomic<Int>(0)
    private let hasStopped = Atomic<Bool>(false)

    /// Connections so far.
    var connections: Int { accepted.load(ordering: .acquiring) }

    init(path: String? = nil, _ script: @escaping @Sendable (Peer) -> Void) throws {
        let socket: FileDescriptor
        if let path {
            socket = try Listener.unix(path, mode: 0o600)
            address = .unix(path: path)
        } else {
            socket = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
            address = try #require(Socket.localAddress(socket.raw))
        }
        listener = socket.release()
        // The scripts block.
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
        try startDetachedThread("listener") { [listener, weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, let self else { break }
                let number = self.accepted.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
                do throws(PosixError) {
                    try startDetachedThread("script") { script(Peer(descriptor, number: number)) }
                } catch {
                    _ = Glibc.close(descriptor)
                }
            }
            _ = Glibc.close(listener)
        }
    }

    deinit { stopListening() }

    /// Refuses connections from now on.
    func stopListening() {
        // The thread closes the descriptor then, whose number may be somebody else's next.
        guard !hasStopped.exchange(true, ordering: .relaxed) else { return }
        _ = shutdown(listener, Int32(SHUT_RDWR))
    }

    /// A script per connection; the last serves all that follow.
    convenience init(path: String? = nil, scripts: [@Sendable (Peer) -> Void]) throws {
        try self.init(path: path) { peer in scripts[min(peer.number, scripts.count - 1)](peer) }
    }

    var port: UInt16 {
        if case .ip(_, let port) = address { port } else { 0 }
    }

    /// An upstream that leads here and may.
    func upstream(
        host: String = "127.0.0.1",
        isTLS: Bool = false,
        tls: TLSSettings = TLSSettings()
    ) -> Upstream {
        switch address {
        case .ip(_, let port):
            Upstream(
                name: "test",
                origin: .tcp(host: host, port: port, isTLS: isTLS),
                tls: tls,
                allowedAddresses: loopback
            )
        case .unix(let path): Upstream(name: "test", origin: .unix(path: path))
        }
    }
}

let loopback = [AddressRange(network: [127, 0, 0, 0], prefix: 8)].compactMap(\.self)

/// Answers every request with `200` and its body, as long as the peer asks.
let echo: @Sendable (Peer) -> Void = { peer in
    while let (_, body) = peer.readRequest() {
        // One write: a small answer arrives as a whole.
        peer.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    }
}
