import Glibc
import RelayPosix

/// The owner of a socket, for someone who may not use it.
enum SocketOwner {
    /// The words to add to the message, and what to do.
    static func explanation(of path: String) -> (owner: String, advice: String) {
        let me = userName(geteuid())
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            return (" (you are \"\(me)\")", "Run it as root, or ask who runs waystationd.")
        }
        let group = groupName(facts.st_gid)
        if facts.st_mode & S_IWGRP != 0, facts.st_gid != 0 {
            return (
                " (you are \"\(me)\"; the socket belongs to group \"\(group)\")",
                "As root: usermod -aG \(group) \(me), then log in again."
            )
        }
        let owner = userName(facts.st_uid)
        return (
            " (you are \"\(me)\"; the socket belongs to user \"\(owner)\")",
            "Run it as \(owner): sudo \(facts.st_uid == 0 ? "" : "-u \(owner) ")waystation ..."
        )
    }

    /// The user whose process listens; nil where nothing can be connected to.
    static func peer(of path: String) -> uid_t? {
        switch Socket.connect(to: .unix(path: path)) {
        case .connected(let socket): return try? PeerCredentials(of: socket.raw).user
        case .underway(let socket): return try? PeerCredentials(of: socket.raw).user
        case .failed: return nil
        }
    }

    /// Whether a user may have the caller read a file: root and the caller itself.
    static func isTrusted(_ user: uid_t) -> Bool { user == 0 || user == geteuid() }

    /// Whether nobody else can write a file; true also of one that is not there.
    static func isTrusted(file: String) -> Bool {
        var facts = stat()
        guard unsafe stat(file, &facts) == 0 else { return true }
        return isTrusted(facts.st_uid) && facts.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    static func userName(_ id: uid_t) -> String {
        guard let entry = unsafe getpwuid(id) else { return String(id) }
        return unsafe String(cString: entry.pointee.pw_name)
    }

    private static func groupName(_ id: gid_t) -> String {
        guard let entry = unsafe getgrgid(id) else { return String(id) }
        return unsafe String(cString: entry.pointee.gr_name)
    }
}
