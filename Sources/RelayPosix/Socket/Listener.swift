import CLinux
import Glibc

/// Makes listening sockets.
package enum Listener {
    /// The kernel cuts it to net.core.somaxconn.
    static let backlog: Int32 = 4_096

    /// Listens on an Internet address; port 0 lets the kernel choose (`Socket.localAddress` tells).
    package static func tcp(_ address: IPAddress, port: UInt16) throws(PosixError) -> FileDescriptor {
        let place = SocketAddress.ip(address, port: port)
        let listener = try open(place)
        var on: Int32 = 1
        unsafe setsockopt(listener.raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        try bind(listener.raw, place)
        try PosixError.check("listen", Glibc.listen(listener.raw, backlog), path: place.description)
        return listener
    }

    /// Listens on a path.
    ///
    /// A socket that nobody listens on any more is replaced; one that answers, and anything that is no
    /// socket, a symbolic link included, is left alone and refused. A lock file beside it, `path` with
    /// `.lock` added, keeps two starting processes apart. The path never has more rights than asked for, not
    /// even for a moment. `mode` is the path's permission bits: who may connect needs the right to write.
    /// Without a `group` the path keeps the process's own.
    package static func unix(
        _ path: String,
        mode: UInt32,
        group: UInt32? = nil
    ) throws(PosixError) -> FileDescriptor {
        let lock = try lock(path + ".lock")
        defer { _ = lock }
        try reclaim(path)
        let place = SocketAddress.unix(path: path)
        let listener = try open(place)
        // The mode of the descriptor, cut by the umask, becomes that of the path.
        try PosixError.check("fchmod", fchmod(listener.raw, 0o600 & mode), path: path)
        try bind(listener.raw, place)
        do throws(PosixError) {
            if let group {
                try PosixError.check("chown", unsafe lchown(path, uid_t.max, group), path: path)
            }
            try PosixError.check("chmod", unsafe chmod(path, mode), path: path)
            try PosixError.check("listen", Glibc.listen(listener.raw, backlog), path: path)
        } catch {
            unsafe _ = unlink(path)
            throw error
        }
        return listener
    }

    private static func open(_ place: SocketAddress) throws(PosixError) -> FileDescriptor {
        FileDescriptor(
            try PosixError.check(
                "socket",
                socket(place.family, Int32(SOCK_STREAM.rawValue) | Socket.streamFlags, 0),
                path: place.description
            )
        )
    }

    private static func bind(_ descriptor: Int32, _ place: SocketAddress) throws(PosixError) {
        let result = unsafe place.withSockaddr { unsafe Glibc.bind(descriptor, $0, $1) }
        guard let result else {
            throw PosixError("bind", Errno(rawValue: ENAMETOOLONG), path: place.description)
        }
        try PosixError.check("bind", result, path: place.description)
    }

    private static func lock(_ path: String) throws(PosixError) -> FileDescriptor {
        let file = FileDescriptor(
            try PosixError.check(
                "open",
                unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600),
                path: path
            )
        )
        try PosixError.check("flock", flock(file.raw, LOCK_EX | LOCK_NB), path: path)
        return file
    }

    /// Removes the socket at `path` when nobody listens on it.
    private static func reclaim(_ path: String) throws(PosixError) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else {
            if errno == ENOENT { return }
            throw PosixError("lstat", .current, path: path)
        }
        guard facts.st_mode & S_IFMT == S_IFSOCK else {
            throw PosixError("bind", Errno(rawValue: ENOTSOCK), path: path)
        }
        switch Socket.connect(to: .unix(path: path)) {
        case .failed(let reason):
            switch reason.rawValue {
            case ECONNREFUSED: try PosixError.check("unlink", unsafe unlink(path), path: path)
            // Somebody listens and is busy.
            case EAGAIN: throw PosixError("bind", Errno(rawValue: EADDRINUSE), path: path)
            default: throw PosixError("connect", reason, path: path)
            }
        default: throw PosixError("bind", Errno(rawValue: EADDRINUSE), path: path)
        }
    }
}
