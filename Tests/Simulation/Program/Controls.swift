/// Bugs put in on purpose: a checker that finds none of them proves nothing.
enum Controls {
    /// Jobs within which each must be found.
    private static let jobs = 100_000

    static func run(_ arguments: Arguments) -> Int32 {
        let began = monotonicNanoseconds()
        var missed = 0
        for plant in arguments.plant.map({ [$0] }) ?? Plant.allCases {
            let tasks = (0..<jobs / Batch.worldSize).map {
                Batch.Task(seed: arguments.seed + UInt64($0), jobs: Batch.worldSize)
            }
            let results = Batch(tasks, plant: plant).run(threads: arguments.threads)
            if let found = results.first(where: { $0.violation != nil }), let violation = found.violation {
                print(
                    "found   \(plant.rawValue): seed \(found.task.seed), job \(violation.job): \(violation.sentence)"
                )
            } else {
                print("MISSED  \(plant.rawValue)")
                missed += 1
            }
        }
        let seconds = Main.tenths(Double(monotonicNanoseconds() - began) / 1e9)
        print("\(Plant.allCases.count - missed) of \(Plant.allCases.count) planted bugs found; \(seconds) s")
        return missed == 0 ? 0 : 1
    }
}
