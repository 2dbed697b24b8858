import Glibc
import RelayBase
import RelayHTTP
import RelayPosix
import Synchronization

/// A small HTTP server on 127.0.0.1 that follows `UpstreamScript`; a thread per connection.
final class ScriptedUpstream: Sendable {
    let port: UInt16
    /// A port of 127.0.0.1 that is taken and refuses connections.
    let refusingPort: UInt16

    private let script = Mutex(UpstreamScript())
    private let listener: FileDescriptor
    private let refusing: FileDescriptor

    init() throws(PosixError) {
        let loopback = IPAddress(v4: 0x7F00_0001)
        listener = try Listener.tcp(loopback, port: 0)
        port = ScriptedUpstream.port(of: listener.raw)
        // Bound and never listened on: the kernel refuses whoever connects, and nobody else gets the port.
        refusing = try ScriptedUpstream.bound()
        refusingPort = ScriptedUpstream.port(of: refusing.raw)
        try startDetachedThread("upstream") { self.accept() }
    }

    /// How often a path was asked for.
    func count(of path: String) -> Int { script.withLock { $0.seen[path] ?? 0 } }

    private func accept() {
        while waitFor(listener.raw, Int16(POLLIN), milliseconds: -1) {
            guard case .connection(let socket) = Socket.accept(listener.raw) else { continue }
            let raw = socket.release()
            do throws(PosixError) {
                try startDetachedThread("upstream") { self.serve(FileDescriptor(raw)) }
            } catch {
                _ = FileDescriptor(raw)
            }
        }
    }

    private func serve(_ socket: consuming FileDescriptor) {
        let connection = ScriptedConnection(socket: socket)
        guard let request = connection.request() else { return }
        let path = String(request.target.prefix { $0 != "?" })
        let authorization = request.fields[.authorization]
        let answer = script.withLock { script in
            script.answer(to: path, authorization: authorization)
        }
        connection.give(answer)
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        guard case .ip(_, let port) = Socket.localAddress(descriptor) else { return 0 }
        return port
    }

    /// Another socket on the loopback address, bound to a port of the kernel's choice.
    private static func bound() throws(PosixError) -> FileDescriptor {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { throw PosixError("socket", .current) }
        let descriptor = FileDescriptor(raw)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw PosixError("bind", .current) }
        return descriptor
    }
}

/// Waits until the descriptor is ready; false when the time was up or it is broken.
func waitFor(_ descriptor: Int32, _ events: Int16, milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: events, revents: 0)
    while true {
        let ready = unsafe poll(&entry, 1, milliseconds)
        if ready > 0 { return entry.revents & Int16(POLLNVAL) == 0 }
        if ready == 0 || errno != EINTR { return false }
    }
}
