import Glibc
import RelayPosix

/// Whose programs may use the loopback port: those of the user who runs the command, and root's.
///
/// A browser sends a cookie to every port of a host, so the session could be read by another user of the machine whose
/// port somebody visits; it is of no use to them.
struct PageNeighbours {
    private let port: UInt16
    private let users: [UInt32]

    init(port: UInt16) {
        self.port = port
        // Behind sudo the browser is that of who typed it.
        let caller = geteuid() == 0 ? environment("SUDO_UID").flatMap { UInt32($0) } : nil
        users = [0, geteuid()] + (caller.map { [$0] } ?? [])
    }

    init(port: UInt16, users: [UInt32]) {
        self.port = port
        self.users = users
    }

    /// What to tell a caller of another user; nil for the others, and where the kernel does not tell.
    func stranger(at descriptor: Int32) -> String? {
        guard case .ip(_, let theirs)? = Socket.remoteAddress(descriptor) else { return nil }
        for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let bytes = try? FileBytes.read(path: file) else { continue }
            if let user = user(of: theirs, in: String(decoding: bytes, as: UTF8.self)) {
                return users.contains(user)
                    ? nil : "uid \(user) may not use a page that is open for uid \(users.last ?? 0)"
            }
        }
        return nil
    }

    /// Whose socket it is that is connected from that port to ours, in the kernel's table (proc_net_tcp(5)).
    func user(of theirs: UInt16, in table: String) -> UInt32? {
        let (from, to) = (
            "0100007F:" + PageNeighbours.hexadecimal(theirs), "0100007F:" + PageNeighbours.hexadecimal(port)
        )
        for line in table.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ")
            // What waits for its last packets has no owner any more.
            guard words.count > 7, words[1].hasSuffix(from), words[2].hasSuffix(to), words[3] != "06" else {
                continue
            }
            return UInt32(words[7])
        }
        return nil
    }

    private static func hexadecimal(_ port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
