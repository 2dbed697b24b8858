import Glibc

@main
enum Main {
    static func main() {
        // Sets and dictionaries take their order from a seed of the process unless this is set.
        if unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            unsafe setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        }
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
            print(Arguments.usage)
            exit(64)
        }
        if arguments.playsScenarios { exit(ScenarioBatch.run(arguments.scenario, seed: arguments.seed)) }
        if let worlds = arguments.worlds {
            let plant = arguments.worldsPlant
            exit(
                arguments.runsControls
                    ? worlds.controls(arguments, plant: plant) : worlds.simulate(arguments, plant: plant)
            )
        }
        exit(arguments.runsControls ? Controls.run(arguments) : simulate(arguments))
    }

    private static func simulate(_ arguments: Arguments) -> Int32 {
        let size = Batch.worldSize
        let count = (arguments.jobs + size - 1) / size
        var tasks = (0..<count).map {
            Batch.Task(seed: arguments.seed + UInt64($0), jobs: min(size, arguments.jobs - $0 * size))
        }
        if let seed = arguments.extraSeed, !tasks.isEmpty {
            tasks[count - 1] = Batch.Task(seed: seed, jobs: tasks[count - 1].jobs)
        }
        let began = monotonicNanoseconds()
        let batch = Batch(tasks, plant: arguments.plant, traced: arguments.traced, seconds: arguments.seconds)
        let results = batch.run(threads: arguments.threads)
        let seconds = Double(monotonicNanoseconds() - began) / 1e9
        return report(results, seconds, arguments)
    }

    private static func report(_ results: [Batch.Result], _ seconds: Double, _ arguments: Arguments) -> Int32
    {
        var coverage = Coverage()
        var hash = TraceHash()
        var virtual: Int64 = 0
        for result in results {
            coverage.add(result.coverage)
            hash.mix(result.hash)
            virtual += result.virtualTime
            for line in result.timeline { print(line) }
        }
        let jobs = results.reduce(0) { $0 + $1.ended }
        for result in results {
            guard let violation = result.violation else { continue }
            print(tell(violation, result.task, arguments.plant))
            return 1
        }
        if arguments.traced == nil { print(coverage.table) }
        print(
            "\(jobs) jobs of \(results.count) worlds from seed \(arguments.seed), every promise kept; "
                + "\(virtual / 1_000_000_000) s of virtual time, at most \(results.map(\.mostInFlight).max() ?? 0) jobs at once; "
                + "\(tenths(seconds)) s, \(Int(Double(jobs) / max(seconds, 0.001))) jobs/s; trace \(String(hash.value, radix: 16))"
        )
        guard jobs >= 100_000 else { return 0 }
        for kind in coverage.missing { print("never happened: \(kind.name)") }
        return coverage.missing.isEmpty ? 0 : 1
    }

    static func tell(_ violation: Violation, _ task: Batch.Task, _ plant: Plant?) -> String {
        let job = violation.job >= 0 ? ", job \(violation.job)" : ""
        let replay =
            "--seed \(task.seed) --jobs \(task.jobs)" + (plant.map { " --plant \($0.rawValue)" } ?? "")
            + (violation.job >= 0 ? " --trace --job \(violation.job)" : "")
        return
            (["seed \(task.seed)\(job), at \(Moment.time(violation.at)): \(violation.sentence)"]
            + violation.timeline
            + ["replay: Tests/Simulation/run \(replay)"]).joined(separator: "\n")
    }

    static func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
