import Synchronization

/// The only executor of a world: first come, first run, on the thread that pumps it.
final class RunQueue: TaskExecutor {
    private struct Ring {
        var jobs: [UnownedJob?] = Array(repeating: nil, count: 1024)
        var first = 0
        var count = 0

        mutating func push(_ job: UnownedJob) {
            if count == jobs.count {
                jobs =
                    (0..<count).map { jobs[(first + $0) & (count - 1)] } + Array(repeating: nil, count: count)
                first = 0
            }
            jobs[(first + count) & (jobs.count - 1)] = job
            count += 1
        }

        mutating func pop() -> UnownedJob? {
            guard count > 0 else { return nil }
            let job = jobs[first]
            first = (first + 1) & (jobs.count - 1)
            count -= 1
            return job
        }
    }

    private let ring = Mutex(Ring())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ring.withLock { $0.push(job) }
    }

    /// Runs until nothing is left to run.
    func run() {
        let executor = unsafe asUnownedTaskExecutor()
        while let job = ring.withLock({ $0.pop() }) { unsafe job.runSynchronously(on: executor) }
    }
}
