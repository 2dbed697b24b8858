import Glibc
import Synchronization

/// Many worlds of durable jobs, on a few threads; each world on one thread from its first moment to its last.
final class DurableBatch: Sendable {
    /// Jobs of one world.
    static let worldSize = 120

    struct Result: Sendable {
        let seed: UInt64
        let jobs: Int
        let hash: UInt64
        let virtualTime: Int64
        let coverage: [String: Int]
        let violation: Violation?
    }

    private struct State {
        var next: UInt64
        var results: [UInt64: Result] = [:]
        var isOver = false
    }

    private let last: UInt64
    private let plant: DurablePlant?
    private let end: Int64?
    private let state: Mutex<State>

    init(seeds: ClosedRange<UInt64>, plant: DurablePlant?, seconds: Int? = nil) {
        last = seeds.upperBound
        self.plant = plant
        end = seconds.map { Batch.clock() + Int64($0) * 1_000_000_000 }
        state = Mutex(State(next: seeds.lowerBound))
    }

    /// The results in the order of the seeds, up to the first broken promise.
    func run(threads: Int) -> [Result] {
        let others = (1..<max(1, threads)).map { _ in
            var thread = pthread_t()
            let batch = unsafe Unmanaged.passRetained(self)
            unsafe pthread_create(
                &thread,
                nil,
                { pointer in
                    guard let pointer = unsafe pointer else { return nil }
                    unsafe Unmanaged<DurableBatch>.fromOpaque(pointer).takeRetainedValue().work()
                    return nil
                },
                unsafe batch.toOpaque()
            )
            return thread
        }
        work()
        for thread in others { pthread_join(thread, nil) }
        return state.withLock { $0.results }.sorted { $0.key < $1.key }.map(\.value)
    }

    private func work() {
        while let seed = next() {
            let result = DurableBatch.run(seed, plant)
            state.withLock { state in
                state.results[seed] = result
                if result.violation != nil { state.isOver = true }
            }
        }
    }

    private func next() -> UInt64? {
        if let end, Batch.clock() >= end { return nil }
        return state.withLock { state in
            guard !state.isOver, state.next <= last else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    static func run(_ seed: UInt64, _ plant: DurablePlant?) -> Result {
        let world = DurableWorld(seed: seed, jobs: worldSize, plant: plant)
        world.run()
        return Result(
            seed: seed,
            jobs: world.checker.jobs.count,
            hash: world.checker.hash.value,
            virtualTime: world.timeline.now,
            coverage: world.checker.coverage,
            violation: world.checker.violation
        )
    }
}

/// The worlds of durable jobs as the command line asks for them.
enum DurableMain {
    /// Worlds within which each planted bug must be found.
    private static let controlWorlds: UInt64 = 60

    static func simulate(_ arguments: Arguments) -> Int32 {
        let began = Batch.clock()
        let count = UInt64(max(1, arguments.jobs / DurableBatch.worldSize))
        let batch = DurableBatch(
            seeds: arguments.seed...(arguments.seed + count - 1),
            plant: arguments.durablePlant,
            seconds: arguments.seconds
        )
        let results = batch.run(threads: arguments.threads)
        if let found = results.first(where: { $0.violation != nil }), let violation = found.violation {
            print(tell(violation, found.seed, arguments.durablePlant))
            return 1
        }
        var coverage: [String: Int] = [:]
        var hash = TraceHash()
        for result in results {
            coverage.merge(result.coverage, uniquingKeysWith: +)
            hash.mix(result.hash)
        }
        for (what, count) in coverage.sorted(by: { $0.key < $1.key }) { print("  \(count)\t\(what)") }
        let jobs = results.reduce(0) { $0 + $1.jobs }
        let hours = results.reduce(0) { $0 + $1.virtualTime / 3_600_000_000_000 }
        let seconds = Double(Batch.clock() - began) / 1e9
        print(
            "\(jobs) durable jobs of \(results.count) worlds from seed \(arguments.seed), every promise kept; "
                + "\(hours) h of virtual time; \(Main.tenths(seconds)) s; trace \(String(hash.value, radix: 16))"
        )
        return 0
    }

    static func tell(_ violation: Violation, _ seed: UInt64, _ plant: DurablePlant?) -> String {
        let job = violation.job >= 0 ? ", job \(violation.job)" : ""
        let planted = plant.map { " --durable-plant \($0.rawValue)" } ?? ""
        return
            (["seed \(seed)\(job), at \(Moment.time(violation.at)): \(violation.sentence)"]
            + violation.timeline
            + [
                "replay: Tests/Simulation/run --durable --seed \(seed) --jobs \(DurableBatch.worldSize)\(planted)"
            ])
            .joined(separator: "\n")
    }

    static func controls(_ arguments: Arguments) -> Int32 {
        let began = Batch.clock()
        var missed = 0
        let plants = arguments.durablePlant.map { [$0] } ?? DurablePlant.allCases
        for plant in plants {
            let seeds = arguments.seed...(arguments.seed + controlWorlds - 1)
            let results = DurableBatch(seeds: seeds, plant: plant).run(threads: arguments.threads)
            if let found = results.first(where: { $0.violation != nil }), let violation = found.violation {
                print(
                    "found   \(plant.rawValue): seed \(found.seed), job \(violation.job): \(violation.sentence)"
                )
            } else {
                print("MISSED  \(plant.rawValue)")
                missed += 1
            }
        }
        let seconds = Main.tenths(Double(Batch.clock() - began) / 1e9)
        print(
            "\(plants.count - missed) of \(plants.count) bugs planted around durable jobs found; \(seconds) s"
        )
        return missed == 0 ? 0 : 1
    }
}
