import RelayBase
import RelayJobs
import Synchronization

/// Time that passes only for those who wait, and the executor of all that happens in it.
///
/// Tasks run one after the other on the thread that pumps them; when each of them waits, the clock goes to the next
/// moment that one of them waits for.
final class ImaginedTime: TimeSource, TaskExecutor {
    private struct Timer {
        let number: UInt64
        let waiter: CheckedContinuation<Bool, Never>
    }

    /// Those of one moment.
    private struct Timers {
        var timers: [Timer]
        /// How many of them have been taken.
        var fired = 0

        mutating func next() -> Timer? {
            guard fired < timers.count else { return nil }
            defer { fired += 1 }
            return timers[fired]
        }
    }

    private struct State {
        var now = Instant(nanoseconds: 0)
        var jobs: [UnownedJob] = []
        /// How many of the jobs have run.
        var done = 0
        var timers: [Instant: Timers] = [:]
        /// Those that somebody waits for; the next is the last one.
        var moments: [Instant] = []
        var timerCount: UInt64 = 0
        /// Work that may still be done.
        var work = Int.max
        /// By the class: until when its jobs wait for the route.
        var gates: [String: Instant] = [:]

        mutating func nextJob() -> UnownedJob? {
            guard done < jobs.count else {
                jobs.removeAll(keepingCapacity: true)
                done = 0
                return nil
            }
            defer { done += 1 }
            return jobs[done]
        }

        mutating func add(_ timer: Timer, at deadline: Instant) {
            if timers[deadline]?.timers.append(timer) != nil { return }
            timers[deadline] = Timers(timers: [timer])
            var (low, high) = (0, moments.count)
            while low < high {
                let middle = (low + high) / 2
                if moments[middle] > deadline { low = middle + 1 } else { high = middle }
            }
            moments.insert(deadline, at: low)
        }

        mutating func remove(_ number: UInt64, at deadline: Instant) -> Timer? {
            guard let index = timers[deadline]?.timers.firstIndex(where: { $0.number == number }),
                index >= timers[deadline]?.fired ?? 0
            else { return nil }
            return timers[deadline]?.timers.remove(at: index)
        }

        /// The next one, at whose moment the clock then is.
        mutating func nextTimer() -> Timer? {
            while let moment = moments.last {
                if let timer = timers[moment]?.next() {
                    now = max(now, moment)
                    return timer
                }
                moments.removeLast()
                timers[moment] = nil
            }
            return nil
        }
    }

    /// Milliseconds since 1970 UTC at which it begins.
    private let start: Int64
    private let state = Mutex(State())

    /// `work` is how much of it may be done.
    init(since start: Int64, work: Int = .max) {
        self.start = start
        state.withLock { $0.work = work }
    }

    /// Counts work; false where as much has been done as may be.
    func take(_ work: Int) -> Bool {
        state.withLock { state in
            state.work = max(-1, state.work - work)
            return state.work >= 0
        }
    }

    /// Has the jobs of a class wait for their route.
    func shut(_ name: String, until moment: Instant) { state.withLock { $0.gates[name] = moment } }

    /// Has those that come to it from now on wait no longer.
    func open(_ name: String) { state.withLock { $0.gates[name] = nil } }

    /// Until when they do, if at all.
    func gate(_ name: String) -> Instant? {
        state.withLock { state in state.gates[name].flatMap { state.now < $0 ? $0 : nil } }
    }

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
                    state.add(Timer(number: number, waiter: waiter), at: deadline)
                    return nil
                }
                if let now { waiter.resume(returning: now) }
            }
        } onCancel: {
            let timer = state.withLock { state in
                state.remove(number, at: deadline)
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
        if let job = state.withLock({ $0.nextJob() }) {
            unsafe job.runSynchronously(on: executor)
            return true
        }
        let timer = state.withLock { $0.nextTimer() }
        timer?.waiter.resume(returning: true)
        return timer != nil
    }
}
