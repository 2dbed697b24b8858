// The kinds of worlds.
extension SeededWorlds {
    /// Worlds of requests, and of the code that a program puts in their way.
    static let requests = SeededWorlds(
        word: nil,
        what: "jobs",
        size: 20_000,
        controlWorlds: 30,
        plants: Plant.allCases.map { ($0.name, $0.sentences) }
    ) { order in
        let world = World(seed: order.seed, jobs: order.jobs, plant: .named(order.plant))
        world.checker.traced = order.traced
        world.run()
        var coverage: [String: Int] = [:]
        for kind in Coverage.allCases { coverage[kind.rawValue] = world.checker.coverage[kind, default: 0] }
        var result = Result(order, jobs: world.checker.ended, world.checker, coverage)
        result.mostInFlight = world.checker.mostInFlight
        result.timeline = world.checker.tracedTimeline
        return result
    }

    /// Worlds of jobs that are kept.
    static let durable = SeededWorlds(
        word: "--durable",
        what: "durable jobs",
        size: 120,
        controlWorlds: 60,
        plants: DurablePlant.allCases.map { ($0.name, $0.sentences) }
    ) { order in
        let world = DurableWorld(seed: order.seed, jobs: order.jobs, plant: .named(order.plant))
        world.run()
        return Result(order, jobs: world.checker.jobs.count, world.checker, world.checker.coverage)
    }

    /// Worlds in which many want something of one route at once.
    static let traffic = SeededWorlds(
        word: "--traffic",
        what: "requests and kept jobs",
        size: 500,
        controlWorlds: 100,
        plants: TrafficPlant.allCases.map { ($0.name, $0.sentences) }
    ) { order in
        TrafficWorld(seed: order.seed, jobs: order.jobs, plant: .named(order.plant)).result(of: order)
    }

    /// The same worlds, each in all modes of the pass-through: the records of it are the same in all.
    static let passing = SeededWorlds(
        word: "--pass-through",
        what: "requests in all modes and kept jobs",
        size: 500,
        controlWorlds: 300,
        plants: PassingPlant.allCases.map { ($0.name, $0.sentences) }
    ) { order in
        let plant = PassingPlant.named(order.plant)
        let worlds = TrafficMode.allCases.map {
            TrafficWorld(seed: order.seed, jobs: order.jobs, plant: nil, mode: $0, passingPlant: plant)
        }
        let results = worlds.map { $0.result(of: order) }
        var result = results[1]
        if let broken = results.first(where: { $0.violation != nil }) { return broken }
        for (world, other) in zip(worlds, results) where other.hash != results[0].hash {
            result.violation = Violation(
                job: -1,
                at: other.virtualTime,
                sentence: "\(PassingPlant.differ) between off and \(world.mode.rawValue)",
                timeline: parting(worlds[0].checker.story, world.checker.story)
            )
        }
        return result
    }

    /// Where two stories part, with what came before.
    private static func parting(_ one: [String], _ other: [String]) -> [String] {
        let common = zip(one, other).prefix { $0 == $1 }.count
        return one[max(0, common - 20)..<common] + ["off:"] + one.dropFirst(common).prefix(3) + ["instead:"]
            + other.dropFirst(common).prefix(3)
    }
}

extension TrafficWorld {
    fileprivate func result(of order: SeededWorlds.Order) -> SeededWorlds.Result {
        checker.isTelling = order.isTelling
        run()
        return SeededWorlds.Result(order, jobs: checker.jobs.count, checker, checker.coverage)
    }
}
