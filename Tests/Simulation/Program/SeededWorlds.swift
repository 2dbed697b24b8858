/// A kind of worlds that are made from one seed each, as the command line asks for them.
struct SeededWorlds {
    /// The word for it on the command line: `durable`, with `--durable` and `--durable-plant NAME`.
    let word: String
    /// What their jobs are called.
    let what: String
    /// Jobs of one world.
    let size: Int
    /// Worlds within which each planted bug must be found.
    let controlWorlds: UInt64
    /// Their planted bugs, each with parts of the sentences of which the checker must say one.
    let plants: [(name: String, sentences: [String])]
    /// Runs one world, with a planted bug or none, and tells what happens in it where that is asked for.
    let run: @Sendable (UInt64, String?, Bool) -> SeededBatch.Result

    func simulate(_ arguments: Arguments, plant: String?) -> Int32 {
        let began = Batch.clock()
        let count = UInt64(max(1, arguments.jobs / size))
        let batch = SeededBatch(
            seeds: arguments.seed...(arguments.seed + count - 1),
            seconds: arguments.seconds
        ) { [run] in run($0, plant, false) }
        let results = batch.run(threads: arguments.threads)
        if let found = results.first(where: { $0.violation != nil }) {
            // What led to it is only written down for who has to read it.
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
        let seconds = Double(Batch.clock() - began) / 1e9
        print(
            "\(jobs) \(what) of \(results.count) worlds from seed \(arguments.seed), every promise kept; "
                + "\(hours) h of virtual time; \(Main.tenths(seconds)) s; trace \(String(hash.value, radix: 16))"
        )
        return 0
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
        let began = Batch.clock()
        var missed = 0
        let sought = plants.filter { plant == nil || $0.name == plant }
        for plant in sought {
            let seeds = arguments.seed...(arguments.seed + controlWorlds - 1)
            let results = SeededBatch(seeds: seeds) { [run] in run($0, plant.name, false) }
                .run(threads: arguments.threads)
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
        let seconds = Main.tenths(Double(Batch.clock() - began) / 1e9)
        print("\(sought.count - missed) of \(sought.count) bugs planted around \(what) found; \(seconds) s")
        return missed == 0 ? 0 : 1
    }
}
