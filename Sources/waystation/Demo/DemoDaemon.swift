import Glibc
import RelayBase
import RelayClient
import RelayPosix
import Synchronization

/// The daemon the demo starts as its child.
final class DemoDaemon: Sendable {
    private let process: ChildProcess
    private let logFile: String
    private let isStopped = Mutex(false)

    /// Starts `waystationd`, the one beside this program before the one in PATH.
    init(configuration: DemoConfiguration) throws(CommandFailure) {
        logFile = configuration.directory + "/waystationd.log"
        process = try DaemonProgram.start(
            ["--config", configuration.file],
            variables: ["STATE_DIRECTORY=\(configuration.directory)"],
            [(0, .nothing), (1, .nothing), (2, .file(logFile, O_WRONLY | O_CREAT | O_APPEND))]
        )
    }

    /// Waits until it serves, at most ten seconds.
    func waitUntilReady(_ client: RelayClient) throws(CommandFailure) {
        for _ in 0..<1000 {
            if waitpid(process.id, nil, WNOHANG) == process.id {
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
        kill(process.id, SIGTERM)
        for turn in 0..<600 {
            if waitpid(process.id, nil, WNOHANG) != 0 { return }
            if turn == 500 { kill(process.id, SIGKILL) }
            _ = poll(nil, 0, 10)
        }
    }

    private func log() -> String {
        let bytes = (try? FileBytes.read(path: logFile)) ?? []
        return String(decoding: bytes.suffix(4096), as: UTF8.self)
    }
}
