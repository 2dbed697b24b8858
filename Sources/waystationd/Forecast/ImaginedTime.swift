import RelayBase
import RelayJobs
import Synchronization

/// Time that passes only for those who wait, and the executor of all that happens in it.
///
/// Tasks run one after the other on the thread that pumps them; when each of them waits, the clock goes to the next
/// moment that one of them waits for.
final class ImaginedTime: TimeSource, TaskExecutor {
    private struct Timer {
        let deadline: Instant
        let number: UInt64
        let waiter: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant(nanoseconds: 0)
        var jobs: [UnownedJob] = []
        var timers: [Timer] = []
        var timerCount: UInt64 = 0
    }

    /// Milliseconds since 1970 UTC at which it begins.
    private let start: Int64
    private let state = Mutex(State())

    init(since start: Int64) { self.start = start }

    func now() -> Instant { state.withLock { $0.now } }

    func wallMilliseconds() -> Int64 { start + now().nanoseconds / 1_000_000 }

    /// The first millisecond of the wall clock that is not before the moment.
    func wallMilliseconds(of moment: Instant) -> Int64 { start + (moment.nanoseconds + 999_999) / 1_000_000 }

    /// The moment of the wall clock on the monotonic one.
    func instant(ofWall wall: Int64) -> Instant {
        Instant(nanoseconds: 0).advanced(by: .milliseconds(wall.subtractingSaturating(start)))
    }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        let number = state.withLock { state in
            state.timerCount += 1
            return state.timerCount
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if deadline <= state.now { return true }
                    state.timers.append(Timer(deadline: deadline, number: number, waiter: waiter))
                    return nil
                }
                if let now { waiter.resume(returning: now) }
            }
        } onCancel: {
            let timer = state.withLock { state in
                state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
            }
            timer?.waiter.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs the work to its end, or until it waits for what never comes.
    func run(_ work: @escaping @Sendable () async -> Void) {
        Task(executorPreference: self, operation: work)
        while step() {}
    }

    /// Runs what is next, or has the clock go on.
    private func step() -> Bool {
        let executor = unsafe asUnownedTaskExecutor()
        if let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
            unsafe job.runSynchronously(on: executor)
            return true
        }
        let timer: Timer? = state.withLock { state in
            let next = state.timers.indices.min {
                (state.timers[$0].deadline, state.timers[$0].number)
                    < (state.timers[$1].deadline, state.timers[$1].number)
            }
            guard let next else { return nil }
            state.now = max(state.now, state.timers[next].deadline)
            return state.timers.remove(at: next)
        }
        timer?.waiter.resume(returning: true)
        return timer != nil
    }
}
