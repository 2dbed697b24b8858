import CLinux
import Glibc
import RelayPosix

/// journald's socket for whole records (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/).
///
/// sd-journal's own calls report success when nobody listens, and never tell that a record was lost.
package final class JournalSocket: Sendable {
    /// Of the machine's journal.
    package static let system = JournalSocket("/run/systemd/journal/socket")

    private let path: String
    private let descriptor: Int32

    package init(_ path: String) {
        self.path = path
        descriptor = relay_datagram_socket()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits, for half a second at most, until journald has looked at all that was sent: it reads in /proc whose a record
    /// is, and of a process that is gone nobody finds it by its unit.
    package func settle() {
        // journald takes one datagram after the other, and ignores one that is empty: when it has that, it is through with
        // those before.
        guard send([], flags: Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) else { return }
        let deadline = SystemClock.monotonic() + 500_000_000
        while relay_has_unreceived(descriptor) != 0, SystemClock.monotonic() < deadline { usleep(1_000) }
    }

    /// Sends a record; waits while journald is behind.
    ///
    /// - Returns: false when nobody listens.
    package func send(_ record: [UInt8]) -> Bool { send(record, flags: Int32(MSG_NOSIGNAL)) }

    private func send(_ record: [UInt8], flags: Int32) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            guard path.utf8.count < target.count else { return false }
            unsafe target.copyBytes(from: path.utf8)
            return true
        }
        guard fits else { return false }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                while true {
                    let sent = unsafe sendto(
                        descriptor,
                        record,
                        record.count,
                        flags,
                        address,
                        length
                    )
                    if sent >= 0 { return true }
                    guard errno == EINTR else { return false }
                }
            }
        }
    }
}
