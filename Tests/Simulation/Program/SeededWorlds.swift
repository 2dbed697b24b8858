/// A kind of worlds that are made from one seed each, as the command line asks for them.
struct SeededWorlds: Sendable {
    /// The word for it on the command line, as `--durable`; nil for those that it means without a word.
    let word: String?
    let what: String
    let size: Int
    /// Worlds within which each planted bug must be found.
    let controlWorlds: Int
    /// Their planted bugs, each with parts of the sentences of which the checker must say one.
    let plants: [(name: String, sentences: [String])]
    let run: @Sendable (Order) -> Result

    struct Order: Sendable {
        let seed: UInt64
        let jobs: Int
        var plant: String?
        var traced: Int?
        /// Whether every moment is kept, for who reads a broken promise.
        var isTelling = false
    }

    struct Result: Sendable {
        let order: Order
        let jobs: Int
        let hash: UInt64
        let virtualTime: Int64
        let coverage: [String: Int]
        var violation: Violation?
        var mostInFlight = 0
        var timeline: [String] = []

        init<Kind>(_ order: Order, jobs: Int, _ checker: SimulatedChecker<Kind>, _ coverage: [String: Int]) {
            (self.order, self.jobs, self.coverage) = (order, jobs, coverage)
            (hash, virtualTime, violation) = (checker.hash.value, checker.now, checker.violation)
        }
    }

    func simulate(_ arguments: Arguments) -> Int32 {
        let began = monotonicNanoseconds()
        var orders = orders((arguments.jobs + size - 1) / size, arguments, arguments.plant)
        if let seed = arguments.extraSeed, let last = orders.popLast() {
            orders.append(Order(seed: seed, jobs: last.jobs, plant: last.plant, traced: last.traced))
        }
        let results = results(orders, arguments, seconds: arguments.seconds)
        for line in results.flatMap(\.timeline) { print(line) }
        if let found = results.first(where: { $0.violation != nil }) {
            var again = found.order
            // The story that led to it is written down only where somebody has to read it.
            again.isTelling = true
            tell(run(again))
            return 1
        }
        var coverage: [String: Int] = [:]
        var hash = TraceHash()
        for result in results {
            coverage.merge(result.coverage, uniquingKeysWith: +)
            hash.mix(result.hash)
        }
        if arguments.traced == nil {
            for (what, count) in coverage.sorted(by: { $0.key < $1.key }) { print("  \(count)\t\(what)") }
        }
        let jobs = results.reduce(0) { $0 + $1.jobs }
        let virtual = results.reduce(0) { $0 + $1.virtualTime } / 1_000_000_000
        let most = results.map(\.mostInFlight).max() ?? 0
        let seconds = Double(monotonicNanoseconds() - began) / 1e9
        print(
            "\(jobs) \(what) of \(results.count) worlds from seed \(arguments.seed), every promise kept; "
                + (virtual < 36_000 ? "\(virtual) s" : "\(virtual / 3_600) h") + " of virtual time, "
                + (most > 0 ? "at most \(most) jobs at once; " : "")
                + "\(tenths(seconds)) s, \(Int(Double(jobs) / max(seconds, 0.001))) jobs/s; "
                + "trace \(String(hash.value, radix: 16))"
        )
        let missing = jobs < 100_000 ? [] : coverage.filter { $0.value == 0 }.keys.sorted()
        for what in missing { print("never happened: \(what)") }
        return missing.isEmpty ? 0 : 1
    }

    private func orders(_ count: Int, _ arguments: Arguments, _ plant: String?) -> [Order] {
        (0..<count).map { number in
            let jobs = arguments.runsControls ? size : min(size, arguments.jobs - number * size)
            let seed = arguments.seed + UInt64(number)
            return Order(seed: seed, jobs: jobs, plant: plant, traced: arguments.traced)
        }
    }

    /// The outcomes up to the first broken promise.
    private func results(_ orders: [Order], _ arguments: Arguments, seconds: Int? = nil) -> [Result] {
        Workers(self, orders, seconds: seconds).run(threads: arguments.threads)
    }

    private func tell(_ result: Result) {
        guard let violation = result.violation else { return }
        let order = result.order
        let job = violation.job >= 0 ? ", job \(violation.job)" : ""
        print("seed \(order.seed)\(job), at \(Moment.time(violation.at)): \(violation.sentence)")
        for line in violation.timeline { print(line) }
        let worlds = (word.map { $0 + " " } ?? "") + "--seed \(order.seed) --jobs \(order.jobs)"
        print("replay: Tests/Simulation/run \(worlds)\(order.plant.map { " --plant \($0)" } ?? "")")
    }

    func controls(_ arguments: Arguments) -> Int32 {
        let began = monotonicNanoseconds()
        var missed = 0
        let sought = plants.filter { arguments.plant == nil || $0.name == arguments.plant }
        for plant in sought {
            let results = results(orders(controlWorlds, arguments, plant.name), arguments)
            let found = results.first { $0.violation != nil }
            guard let found, let violation = found.violation,
                plant.sentences.contains(where: violation.sentence.contains)
            else {
                let instead = found?.violation.map { ", but: \($0.sentence)" } ?? ""
                print("MISSED  \(plant.name)\(instead)")
                missed += 1
                continue
            }
            print(
                "found   \(plant.name): seed \(found.order.seed), job \(violation.job): \(violation.sentence)"
            )
        }
        let seconds = tenths(Double(monotonicNanoseconds() - began) / 1e9)
        print("\(sought.count - missed) of \(sought.count) bugs planted around \(what) found; \(seconds) s")
        return missed == 0 ? 0 : 1
    }
}

func tenths(_ seconds: Double) -> String {
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
}
