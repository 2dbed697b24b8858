import Glibc
import RelayPosix
import Synchronization

/// A way to a server on which the k-th message in either direction is lost together with its connection.
package final class CuttingProxy: Sendable {
    package let port: UInt16
    private let socket: String
    private let cut: Int
    private let state = Mutex(State())

    private struct State: Sendable {
        var messages = 0
        var isOver = false
        /// The other end of each connection's descriptor.
        var peers: [Int32: Int32] = [:]
    }

    /// Counts from the first connection on.
    package init(to server: PostgresServer, cuttingAt cut: Int) throws {
        socket = "\(server.folder)/.s.PGSQL.\(server.port)"
        self.cut = cut
        let listener = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
        guard case .ip(_, let port)? = Socket.localAddress(listener.raw) else {
            throw ProgramError("no port")
        }
        self.port = port
        let raw = listener.release()
        try startDetachedThread("proxy") { [self] in
            while !isOver { turn(raw) }
            close(raw)
            for descriptor in state.withLock({ $0.peers.keys.map(\.self) }) { close(descriptor) }
        }
    }

    /// The messages that have come, the lost one among them.
    package var messages: Int { state.withLock { $0.messages } }

    private var isOver: Bool { state.withLock { $0.isOver } }

    package func end() { state.withLock { $0.isOver = true } }

    /// Waits for something for a moment, and passes it on.
    private func turn(_ listener: Int32) {
        let descriptors = [listener] + state.withLock { $0.peers.keys.map(\.self) }
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&entries, nfds_t(entries.count), 50) > 0 else { return }
        for entry in entries where entry.revents != 0 {
            if entry.fd == listener { open(listener) } else { pass(entry.fd) }
        }
    }

    private func open(_ listener: Int32) {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        guard let server = Self.connection(to: socket) else {
            close(client)
            return
        }
        state.withLock { ($0.peers[client], $0.peers[server]) = (server, client) }
    }

    private static func connection(to path: String) -> Int32? {
        let raw = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            for (index, byte) in path.utf8.prefix(place.count - 1).enumerated() { unsafe place[index] = byte }
        }
        let isThere = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isThere else {
            close(raw)
            return nil
        }
        return raw
    }

    private func pass(_ descriptor: Int32) {
        guard let peer = state.withLock({ $0.peers[descriptor] }) else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        let isLost = state.withLock { state in
            if count > 0 { state.messages += 1 }
            return count > 0 && state.messages == cut
        }
        if count > 0, !isLost, writeAll(Array(buffer[..<count]), to: peer) { return }
        state.withLock { ($0.peers[descriptor], $0.peers[peer]) = (nil, nil) }
        close(descriptor)
        close(peer)
    }
}
