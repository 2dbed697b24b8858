import Glibc
import RelayPosix
import RelayRoute
import Testing

/// A listener that never accepts and whose backlog is full: what connects to it is not answered.
final class BlackHole {
    let upstream: Upstream
    private let listener: FileDescriptor
    private let fillers: [Filler]

    init() throws {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        listener = FileDescriptor(raw)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe _ = bind(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(listen(raw, 0) == 0)
        let place = try #require(Socket.localAddress(raw))
        guard case .ip(_, let port) = place else { preconditionFailure("an address has a port") }
        // The queue holds one more than asked for; what comes after is dropped in silence.
        fillers = (0..<4).map { _ in Filler(place) }
        upstream = Upstream(
            name: "test",
            origin: .tcp(host: "127.0.0.1", port: port, isTLS: false),
            allowedAddresses: loopback
        )
    }
}

/// A place in a listener's queue.
private final class Filler {
    private let descriptor: Int32

    init(_ place: SocketAddress) {
        descriptor =
            switch Socket.connect(to: place) {
            case .connected(let socket): socket.release()
            case .underway(let socket): socket.release()
            case .failed: -1
            }
    }

    deinit { _ = close(descriptor) }
}
