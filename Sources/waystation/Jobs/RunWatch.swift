import Glibc
import RelayBase
import RelayClient
import RelayJSON
import Synchronization

/// Follows a run to its end, and leaves it to itself when somebody interrupts the command.
struct RunWatch {
    private let daemon: DaemonAccess
    private let isQuiet: Bool

    private static let isInterrupted = Atomic<Bool>(false)

    init(_ daemon: DaemonAccess, isQuiet: Bool) {
        self.daemon = daemon
        self.isQuiet = isQuiet
    }

    /// - Returns: the run at its end.
    /// - Throws: what the daemon says; a daemon that goes away meanwhile is waited for.
    func follow(_ begun: RunDocument) throws(CommandFailure) -> RunDocument {
        signal(SIGINT) { _ in RunWatch.isInterrupted.store(true, ordering: .relaxed) }
        defer { signal(SIGINT, SIG_DFL) }
        let progress = Progress(words(begun), isQuiet: isQuiet)
        defer { progress.end() }
        var run = begun
        // A small one is over at once.
        var pause: Int32 = 20
        var isAway = false
        while !run.isOver {
            _ = poll(nil, 0, pause)
            pause = min(500, pause * 2)
            if RunWatch.isInterrupted.load(ordering: .relaxed) {
                progress.end()
                let stop = daemon.advice("runs stop \(run.number)")
                Output.error.write("\(words(run)); it goes on by itself. To end it: \(stop)\n")
                exit(128 + SIGINT)
            }
            do throws(CommandFailure) {
                run = RunDocument(try daemon.document(.get, "/v1/runs/\(begun.number)").1)
                isAway = false
                progress.update(words(run))
            } catch {
                guard [.notReachable, .failed, .timedOut].contains(error.code) else { throw error }
                if !isAway, !isQuiet {
                    progress.update("\(words(run)); the daemon is away, and goes on with it when it is back")
                }
                isAway = true
            }
        }
        return run
    }

    private func words(_ run: RunDocument) -> String {
        "run \(run.number), \(run.json["action"]?.text ?? ""): \(run.progress) jobs"
    }
}
