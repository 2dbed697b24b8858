import Glibc
import RelaySystemd
import Testing

@Suite("NOTIFY_SOCKET")
struct NotifySocketTests {
    @Test("a manager's socket receives the exact datagrams in order", .timeLimit(.minutes(5)))
    func datagrams() async {
        // A child of its own, since the variable belongs to the process.
        await #expect(processExitsWith: .success) {
            let path = "/tmp/waystation-notify-\(getpid()).sock"
            let manager = try #require(listenForDatagrams(at: path))
            defer { unsafe unlink(path) }
            unsafe setenv("NOTIFY_SOCKET", path, 1)

            let notifier = ServiceNotifier()
            notifier.send(.ready(status: "Serving"))
            notifier.send(.watchdog)
            notifier.send(.stopping(status: "Stopping"))
            try #require(notifier.flush(milliseconds: 30_000))

            #expect(receive(from: manager) == "READY=1\nSTATUS=Serving")
            #expect(receive(from: manager) == "WATCHDOG=1")
            #expect(receive(from: manager) == "STOPPING=1\nSTATUS=Stopping")
        }
    }
}

private func listenForDatagrams(at path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    return bindUnix(descriptor, to: path) ? descriptor : nil
}

private func receive(from descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? "(nothing)" : String(decoding: buffer[..<count], as: UTF8.self)
}

/// Binds a socket to a path, which must fit into an address.
private func bindUnix(_ descriptor: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
        guard bytes.count < target.count else { return false }
        unsafe target.copyBytes(from: bytes)
        return true
    }
    guard fits else { return false }
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
}
