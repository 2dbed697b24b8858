/// Many worlds of requests, on a few threads.
struct Batch {
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

    private let tasks: [Task]
    private let workers: Workers<Result>

    init(_ tasks: [Task], plant: Plant?, traced: Int? = nil, seconds: Int? = nil) {
        self.tasks = tasks
        workers = Workers(
            tasks.indices,
            seconds: seconds,
            isLast: { $0.violation != nil },
            work: { Batch.run(tasks[$0], plant, traced) }
        )
    }

    /// The results in the order of the tasks, up to the first broken promise.
    func run(threads: Int) -> [Result] { workers.run(threads: min(threads, tasks.count)) }

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
