import RelayPosix
import Synchronization

/// An executor without a thread of its own: first come, first run, on the thread that pumps it.
package final class RunQueue: TaskExecutor {
    private struct State: ~Copyable {
        var jobs = JobRing()
        /// Called once, when the next job has come.
        var alarm: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let alarm = state.withLock { state in
            state.jobs.push(job)
            return state.alarm.take()
        }
        alarm?()
    }

    /// Runs until nothing is left to run.
    package func run() {
        let executor = unsafe asUnownedTaskExecutor()
        while let job = state.withLock({ $0.jobs.pop() }) { unsafe job.runSynchronously(on: executor) }
    }

    /// Calls `body` once there is something to run, at once when there is.
    func whenRunnable(_ body: @escaping @Sendable () -> Void) {
        let isRunnable = state.withLock { state in
            if state.jobs.count == 0 { state.alarm = body }
            return state.jobs.count > 0
        }
        if isRunnable { body() }
    }
}
