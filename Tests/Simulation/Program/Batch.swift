import Glibc
import Synchronization

/// Many worlds, on a few threads; each world on one thread from its first moment to its last.
final class Batch: Sendable {
    /// Jobs of one world.
    static let worldSize = 20_000

    struct Task: Sendable {
        let seed: UInt64
        let jobs: Int
    }

    struct Result: Sendable {
        let task: Task
        let hash: UInt64
        let ended: Int
        let mostInFlight: Int
        let virtualTime: Int64
        let coverage: Coverage
        let violation: Violation?
        let timeline: [String]
    }

    private struct State {
        var next = 0
        var results: [Int: Result] = [:]
        var isOver = false
    }

    private let tasks: [Task]
    private let plant: Plant?
    private let traced: Int?
    private let end: Int64?
    private let state = Mutex(State())

    init(_ tasks: [Task], plant: Plant?, traced: Int? = nil, seconds: Int? = nil) {
        self.tasks = tasks
        self.plant = plant
        self.traced = traced
        end = seconds.map { Batch.clock() + Int64($0) * 1_000_000_000 }
    }

    static func clock() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    /// The results in the order of the tasks, up to the first broken promise.
    func run(threads: Int) -> [Result] {
        let others = (1..<max(1, min(threads, tasks.count))).map { _ in
            var thread = pthread_t()
            let batch = unsafe Unmanaged.passRetained(self)
            unsafe pthread_create(
                &thread,
                nil,
                { pointer in
                    guard let pointer = unsafe pointer else { return nil }
                    let batch = unsafe Unmanaged<Batch>.fromOpaque(pointer).takeRetainedValue()
                    batch.work()
                    return nil
                },
                unsafe batch.toOpaque()
            )
            return thread
        }
        work()
        for thread in others { pthread_join(thread, nil) }
        let results = state.withLock { $0.results }
        return tasks.indices.compactMap { results[$0] }
    }

    private func work() {
        while let index = next() {
            let task = tasks[index]
            let result = Batch.run(task, plant, traced)
            state.withLock { state in
                state.results[index] = result
                if result.violation != nil { state.isOver = true }
            }
        }
    }

    private func next() -> Int? {
        if let end, Batch.clock() >= end { return nil }
        return state.withLock { state in
            guard !state.isOver, state.next < tasks.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private static func run(_ task: Task, _ plant: Plant?, _ traced: Int?) -> Result {
        let world = World(seed: task.seed, jobs: task.jobs, plant: plant)
        world.checker.traced = traced
        world.run()
        let checker = world.checker
        return Result(
            task: task,
            hash: checker.hash.value,
            ended: checker.ended,
            mostInFlight: checker.mostInFlight,
            virtualTime: world.timeline.now,
            coverage: checker.coverage,
            violation: checker.violation,
            timeline: checker.tracedTimeline
        )
    }
}
