/// A kind of worlds that are made from one seed each, as the command line asks for them.
struct SeededWorlds {
    /// The word for it on the command line: `durable`, with `--durable` and `--durable-plant NAME`.
    let word: String
    /// The name of their jobs.
    let what: String
    /// Jobs of one world.
    let size: Int
    /// Worlds within which each planted bug must be found.
    let controlWorlds: Int
    /// Their planted bugs, each with parts of the sentences of which the checker must say one.
    let plants: [(name: String, sentences: [String])]
    /// Runs one world, with a planted bug or none, and tells what happens in it where that is asked for.
    let run: @Sendable (UInt64, String?, Bool) -> Result

    /// The outcome of one world.
    struct Result: Sendable {
        let seed: UInt64
        let jobs: Int
        let hash: UInt64
        let virtualTime: Int64
        let coverage: [String: Int]
        var violation: Violation?
    }

    func simulate(_ arguments: Arguments, plant: String?) -> Int32 {
        let began = monotonicNanoseconds()
        let results = worlds(max(1, arguments.jobs / size), arguments, plant, seconds: arguments.seconds)
        if let found = results.first(where: { $0.violation != nil }) {
            // The story that led to it is written down only where somebody has to read it.
            let again = run(found.seed, plant, true)
            if let violation = again.violation { print(tell(violation, found.seed, plant)) }
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
        let hours = results.reduce(0) { $0 + $1.virtualTime / 1_000_000_000 } / 3_600
        let seconds = Double(monotonicNanoseconds() - began) / 1e9
        print(
            "\(jobs) \(what) of \(results.count) worlds from seed \(arguments.seed), every promise kept; "
                + "\(hours) h of virtual time; \(Main.tenths(seconds)) s; trace \(String(hash.value, radix: 16))"
        )
        return 0
    }

    /// So many worlds, a seed each, up to the first broken promise.
    private func worlds(
        _ count: Int,
        _ arguments: Arguments,
        _ plant: String?,
        seconds: Int? = nil
    ) -> [Result] {
        let (run, first) = (run, arguments.seed)
        return Workers(
            0..<count,
            seconds: seconds,
            isLast: { $0.violation != nil },
            work: { run(first + UInt64($0), plant, false) }
        )
        .run(threads: arguments.threads)
    }

    private func tell(_ violation: Violation, _ seed: UInt64, _ plant: String?) -> String {
        let job = violation.job >= 0 ? ", job \(violation.job)" : ""
        let planted = plant.map { " --\(word)-plant \($0)" } ?? ""
        return
            (["seed \(seed)\(job), at \(Moment.time(violation.at)): \(violation.sentence)"]
            + violation.timeline
            + ["replay: Tests/Simulation/run --\(word) --seed \(seed) --jobs \(size)\(planted)"])
            .joined(separator: "\n")
    }

    /// Looks for every planted bug, or for that one.
    func controls(_ arguments: Arguments, plant: String?) -> Int32 {
        let began = monotonicNanoseconds()
        var missed = 0
        let sought = plants.filter { plant == nil || $0.name == plant }
        for plant in sought {
            let results = worlds(controlWorlds, arguments, plant.name)
            let found = results.first { $0.violation != nil }
            guard let found, let violation = found.violation,
                plant.sentences.contains(where: violation.sentence.contains)
            else {
                let instead = found?.violation.map { ", but: seed \(found?.seed ?? 0): \($0.sentence)" } ?? ""
                print("MISSED  \(plant.name)\(instead)")
                missed += 1
                continue
            }
            print("found   \(plant.name): seed \(found.seed), job \(violation.job): \(violation.sentence)")
        }
        let seconds = Main.tenths(Double(monotonicNanoseconds() - began) / 1e9)
        print("\(sought.count - missed) of \(sought.count) bugs planted around \(what) found; \(seconds) s")
        return missed == 0 ? 0 : 1
    }
}

/// A world that is made from a seed.
protocol SeededWorld {
    associatedtype Checker: SeededChecker
    var timeline: Timeline { get }
    var checker: Checker { get }
    func run()
}

/// A checker that holds such a world to its promises.
protocol SeededChecker {
    associatedtype Job
    var jobs: [Job] { get }
    var hash: TraceHash { get }
    var coverage: [String: Int] { get }
    var violation: Violation? { get }
}

extension SeededWorld {
    /// Runs it to its end.
    func result(of seed: UInt64) -> SeededWorlds.Result {
        run()
        return SeededWorlds.Result(
            seed: seed,
            jobs: checker.jobs.count,
            hash: checker.hash.value,
            virtualTime: timeline.now,
            coverage: checker.coverage,
            violation: checker.violation
        )
    }
}
