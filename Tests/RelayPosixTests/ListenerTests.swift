import CLinux
import Glibc
import RelayPosix
import RelayTestSupport
import Testing

@Suite("Listening sockets")
struct ListenerTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/a.sock" }

    @Test("The socket's file has exactly the mode asked for", arguments: [0o600, 0o660, 0o666] as [UInt32])
    func mode(mode: UInt32) throws {
        let listener = try Listener.unix(path, mode: mode)
        var facts = stat()
        unsafe #expect(lstat(path, &facts) == 0)
        #expect(facts.st_mode & 0o7777 == mode)
        #expect(facts.st_mode & S_IFMT == S_IFSOCK)
        _ = listener
    }

    @Test("The socket's file belongs to the group asked for")
    func group() throws {
        let listener = try Listener.unix(path, mode: 0o660, group: getegid())
        var facts = stat()
        unsafe #expect(lstat(path, &facts) == 0)
        #expect(facts.st_gid == getegid())
        _ = listener
    }

    @Test("A dead socket is replaced")
    func reclaimsDead() throws {
        do { _ = try Listener.unix(path, mode: 0o600) }
        let listener = try Listener.unix(path, mode: 0o600)
        guard case .connected = Socket.connect(to: .unix(path: path)) else {
            Issue.record("nobody listens")
            return
        }
        _ = listener
    }

    @Test("A socket that answers is left alone")
    func refusesLiving() throws {
        let listener = try Listener.unix(path, mode: 0o600)
        let error = #expect(throws: PosixError.self) { _ = try Listener.unix(path, mode: 0o600) }
        #expect(error?.errno.rawValue == EADDRINUSE)
        guard case .connected = Socket.connect(to: .unix(path: path)) else {
            Issue.record("the first listener is gone")
            return
        }
        _ = listener
    }

    @Test(
        "A regular file, a folder and a symbolic link are left alone",
        arguments: ["file", "folder", "link"]
    )
    func refusesOthers(kind: String) throws {
        switch kind {
        case "file": _ = unsafe close(open(path, O_CREAT | O_WRONLY, 0o600))
        case "folder": unsafe #expect(mkdir(path, 0o700) == 0)
        default:
            do { _ = try Listener.unix(folder.path + "/b.sock", mode: 0o600) }
            unsafe #expect(symlink(folder.path + "/b.sock", path) == 0)
        }
        let error = #expect(throws: PosixError.self) { _ = try Listener.unix(path, mode: 0o600) }
        #expect(error?.errno.rawValue == ENOTSOCK)
        #expect(error?.path == path)
        var facts = stat()
        unsafe #expect(lstat(path, &facts) == 0)
        if kind == "folder" { unsafe rmdir(path) }
    }

    @Test("Two that start at once are kept apart by the lock")
    func refusesWhileLocked() throws {
        let lock = FileDescriptor(unsafe open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600))
        #expect(flock(lock.raw, LOCK_EX) == 0)
        let error = #expect(throws: PosixError.self) { _ = try Listener.unix(path, mode: 0o600) }
        #expect(error?.call == "flock")
    }

    @Test("A path too long for a socket is refused by name")
    func refusesLongPath() throws {
        let long = folder.path + "/" + String(repeating: "x", count: 100)
        let error = #expect(throws: PosixError.self) { _ = try Listener.unix(long, mode: 0o600) }
        #expect(error?.errno.rawValue == ENAMETOOLONG)
    }

    @Test("The peer's credentials are this process's own")
    func peerCredentials() throws {
        let listener = try Listener.unix(path, mode: 0o600)
        guard case .connected(let client) = Socket.connect(to: .unix(path: path)),
            case .connection(let server) = Socket.accept(listener.raw)
        else {
            Issue.record("cannot connect")
            return
        }
        let peer = try PeerCredentials(of: server.raw)
        #expect(peer.process == getpid())
        #expect(peer.user == geteuid())
        #expect(peer.group == getegid())
        var groups = [gid_t](repeating: 0, count: 1_024)
        let count = unsafe getgroups(1_024, &groups)
        #expect(Set(peer.groups) == Set(groups.prefix(Int(count))))
        _ = client
    }

    @Test("An Internet listener tells the port the kernel chose and takes connections in turn")
    func tcp() throws {
        let loopback = try #require(IPAddress("127.0.0.1"))
        let listener = try Listener.tcp(loopback, port: 0)
        let place = try #require(Socket.localAddress(listener.raw))
        guard case .ip(loopback, let port) = place, port > 0 else {
            Issue.record("bound to \(place)")
            return
        }
        guard case .wouldBlock = Socket.accept(listener.raw) else {
            Issue.record("accepted nobody")
            return
        }
        switch Socket.connect(to: place) {
        case .failed(let reason): Issue.record("\(reason)")
        default: break
        }
    }
}
