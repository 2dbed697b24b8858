import RelayBase
import Synchronization

/// The jobs that are claimed by this process and not settled.
final class RunningJobs: Sendable {
    private struct State {
        var runs: [JobID: JobRun] = [:]
        /// To be cancelled as soon as their claims arrive: the store knows of them and nobody here does yet.
        var expected: Set<JobID> = []
    }

    private let state = Mutex(State())
    /// Claims that can be on their way at once, and more.
    private static let maxExpected = 4_096

    var count: Int { state.withLock { $0.runs.count } }

    func add(_ run: JobRun) {
        let isExpected = state.withLock { state in
            state.runs[run.id] = run
            return state.expected.remove(run.id) != nil
        }
        if isExpected { run.cancel() }
    }

    /// Forgets a run that is settled; the job may have been claimed again by then, and its new run stays.
    func remove(_ run: JobRun) {
        state.withLock { state in
            if state.runs[run.id] === run { state.runs[run.id] = nil }
        }
    }

    /// Cancels a job that runs as far as the store knows.
    ///
    /// - Returns: whether nobody here runs it: its claim is on its way, or it was settled a moment ago.
    func cancel(_ id: JobID) -> Bool {
        let run: JobRun? = state.withLock { state in
            if let run = state.runs[id] { return run }
            if state.expected.count < RunningJobs.maxExpected { state.expected.insert(id) }
            return nil
        }
        run?.cancel()
        return run == nil
    }

    /// The job that was to be cancelled is settled: what runs under its id from now on is another life of it.
    func expectNoMore(_ id: JobID) { state.withLock { _ = $0.expected.remove(id) } }

    func abort() {
        let runs = state.withLock { Array($0.runs.values) }
        for run in runs { run.abort() }
    }
}
