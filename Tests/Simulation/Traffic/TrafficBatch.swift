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
        controlWorlds: 60,
        plants: PassingPlant.allCases.map { ($0.rawValue, [differ]) }
    ) { seed, plant, _ in
        let plant = plant.flatMap { PassingPlant(rawValue: $0) }
        let results = TrafficMode.allCases.map { mode in
            TrafficWorld(seed: seed, jobs: 500, plant: nil, mode: mode, passingPlant: plant).result(of: seed)
        }
        var result = results[1]
        guard result.violation == nil else { return result }
        for (mode, other) in zip(TrafficMode.allCases, results) where other.hash != results[0].hash {
            result.violation = Violation(
                job: -1,
                at: other.virtualTime,
                sentence: "the records \(differ) between off and \(mode.rawValue)",
                timeline: []
            )
        }
        return result
    }

    private static let differ = "differ"
}
