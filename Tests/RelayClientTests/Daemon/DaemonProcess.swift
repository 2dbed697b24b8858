import Glibc
import RelayClient
import RelayPosix
import RelayTestSupport
import Synchronization
import Testing

/// A daemon that a test starts, kills and starts again: the program that the build has made beside the tests.
final class DaemonProcess: Sendable {
    let folder = TemporaryFolder()
    private let process = Mutex<ChildProcess?>(nil)

    var socket: String { folder.path + "/jobs.sock" }

    /// A daemon with the route `hooks`; `members` and `storage` are members of its configuration.
    init(upstream: StubRelay, members: String = "", storage: String = "") throws {
        let text = """
            {"listeners": [{"name": "jobs", "unix": "\(socket)", "mode": "0600", "role": "admin"}],
             "storage": {"directory": "\(folder.path)/state"\(storage)},
             "routes": {"hooks": {"upstreams": [{"name": "u", "unix": "\(upstream.path)"}]}}\(members)}
            """
        let file = unsafe open(folder.path + "/waystation.json", O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        let bytes = Array(text.utf8)
        let written = unsafe write(file, bytes, bytes.count)
        close(file)
        try #require(written == bytes.count)
    }

    deinit { kill() }

    var client: RelayClient { RelayClient(socketPath: socket) }

    /// Starts it and waits until it serves.
    func start() throws {
        let program = programsFolder + "/waystationd"
        let child = try ChildProcess(
            program,
            [program, "--config", folder.path + "/waystation.json"],
            variables: ["PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no"],
            descriptors: [
                (0, .nothing), (1, .nothing), (2, .file(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND)),
            ]
        )
        process.withLock { $0 = child }
        let client = client
        for _ in 0..<3_000 {
            if (try? client.blockingRequest(.get, "/v1/health/ready"))?.status == 200 { return }
            let status = try child.status()
            try #require(status == nil, "the daemon ended at once")
            _ = poll(nil, 0, 10)
        }
        Issue.record("the daemon was not ready within thirty seconds")
    }

    /// Ends it as a crash would, if it runs.
    func kill() {
        process.withLock { process in
            guard let child = process.take() else { return }
            child.kill()
        }
    }
}

/// Sends bytes to a socket, and gives all that comes back until its end; empty when nobody is there.
func exchange(_ path: String, _ request: String) -> String {
    guard case .connected(let socket) = Socket.connect(to: .unix(path: path)) else { return "" }
    var rest = Array(request.utf8)[...]
    var answer: [UInt8] = []
    while true {
        let events = Int16(POLLIN) | (rest.isEmpty ? 0 : Int16(POLLOUT))
        var entry = pollfd(fd: socket.raw, events: events, revents: 0)
        guard unsafe poll(&entry, 1, 30_000) > 0 else { return "" }
        if entry.revents & Int16(POLLOUT) != 0,
            case .bytes(let count) = Socket.send(socket.raw, Array(rest).span)
        {
            rest = rest.dropFirst(count)
        }
        guard entry.revents & ~Int16(POLLOUT) != 0 else { continue }
        switch Socket.receive(socket.raw, behind: &answer, most: 65_536) {
        case .bytes, .wouldBlock: continue
        case .end, .failed: return String(decoding: answer, as: UTF8.self)
        }
    }
}
