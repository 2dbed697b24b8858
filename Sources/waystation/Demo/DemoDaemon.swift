import Glibc
import RelayBase
import RelayClient
import RelayPosix
import Synchronization

/// The daemon the demo starts as its child.
final class DemoDaemon: Sendable {
    private let process: pid_t
    private let logFile: String
    private let isStopped = Mutex(false)

    /// Starts `waystationd`, the one beside this program before the one in PATH.
    init(configuration: DemoConfiguration) throws(CommandFailure) {
        let program = DaemonProgram.path
        logFile = configuration.directory + "/waystationd.log"
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, logFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // This program blocks and ignores signals for its own sake; the child gets them as they usually are.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var ignored = sigset_t()
        unsafe sigemptyset(&ignored)
        unsafe sigaddset(&ignored, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &ignored)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let words = CStrings([program, "--config", configuration.file])
        // Only what a daemon by itself would have: no service manager, no activated sockets.
        let variables = CStrings([
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "STATE_DIRECTORY=\(configuration.directory)",
        ])
        var process: pid_t = 0
        let result = unsafe posix_spawnp(
            &process,
            program,
            &actions,
            &attributes,
            words.pointers,
            variables.pointers
        )
        guard result == 0 else {
            let reason = unsafe String(cString: strerror(result))
            throw CommandFailure(
                .failed,
                "cannot start \(program): \(reason)",
                advice: "Build it first: swift build"
            )
        }
        self.process = process
    }

    /// Waits until it serves, at most ten seconds.
    func waitUntilReady(_ client: RelayClient) throws(CommandFailure) {
        for _ in 0..<1000 {
            var status: Int32 = 0
            if unsafe waitpid(process, &status, WNOHANG) == process {
                throw CommandFailure(.failed, "the daemon ended at once; it said:\n\(log())")
            }
            if let answer = try? client.blockingRequest(.get, "/v1/health/ready"), answer.status == 200 {
                return
            }
            _ = poll(nil, 0, 10)
        }
        throw CommandFailure(.failed, "the daemon was not ready within ten seconds; it said:\n\(log())")
    }

    /// Asks it to end, and waits; after five seconds it is made to.
    func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        kill(process, SIGTERM)
        for turn in 0..<600 {
            if waitpid(process, nil, WNOHANG) != 0 { return }
            if turn == 500 { kill(process, SIGKILL) }
            _ = poll(nil, 0, 10)
        }
    }

    private func log() -> String {
        let bytes = (try? FileBytes.read(path: logFile)) ?? []
        return String(decoding: bytes.suffix(4096), as: UTF8.self)
    }
}
