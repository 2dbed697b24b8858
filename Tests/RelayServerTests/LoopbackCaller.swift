import Glibc
import RelayPosix

/// A caller that blocks, for ten seconds at most.
struct LoopbackCaller: ~Copyable {
    private let descriptor: FileDescriptor

    init(_ address: SocketAddress) throws {
        switch Socket.connect(to: address) {
        case .connected(let made): descriptor = made
        case .underway(let made):
            descriptor = made
            LoopbackCaller.wait(descriptor.raw, Int16(POLLOUT))
        case .failed(let reason): throw PosixError("connect", reason)
        }
    }

    /// Sends a few bytes, which the socket takes at once.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        unsafe _ = Glibc.send(descriptor.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until `mark` has come, or to the end of the connection.
    func read(until mark: String? = nil) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while mark.map({ !text.contains($0) }) ?? true {
            LoopbackCaller.wait(descriptor.raw, Int16(POLLIN))
            let count = unsafe recv(descriptor.raw, &buffer, buffer.count, 0)
            guard count > 0 else { return count == 0 ? text + "(end)" : text + "(error \(errno))" }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text
    }

    private static func wait(_ descriptor: Int32, _ events: Int16) {
        var poller = pollfd(fd: descriptor, events: events, revents: 0)
        unsafe _ = poll(&poller, 1, 10_000)
    }
}
