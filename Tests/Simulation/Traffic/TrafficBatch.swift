extension SeededWorlds {
    /// Worlds in which many want something of one route at once.
    static let traffic = SeededWorlds(
        word: "traffic",
        what: "requests and kept jobs",
        size: 500,
        controlWorlds: 100,
        plants: TrafficPlant.allCases.map { ($0.rawValue, $0.sentences) }
    ) { seed, plant, isTelling in
        let plant = plant.flatMap { TrafficPlant(rawValue: $0) }
        let world = TrafficWorld(seed: seed, jobs: 500, plant: plant)
        world.checker.isTelling = isTelling
        return world.result(of: seed)
    }
}

extension SeededWorlds {
    /// The same worlds, each in all modes of the pass-through: what is on record of it is the same in all.
    static let passing = SeededWorlds(
        word: "pass-through",
        what: "requests in all modes and kept jobs",
        size: 500,
        controlWorlds: 300,
        plants: PassingPlant.allCases.map { ($0.rawValue, $0.sentences) }
    ) { seed, plant, isTelling in
        let plant = plant.flatMap { PassingPlant(rawValue: $0) }
        let worlds = TrafficMode.allCases.map { mode in
            let world = TrafficWorld(seed: seed, jobs: 500, plant: nil, mode: mode, passingPlant: plant)
            world.checker.isTelling = isTelling
            return world
        }
        let results = worlds.map { $0.result(of: seed) }
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
