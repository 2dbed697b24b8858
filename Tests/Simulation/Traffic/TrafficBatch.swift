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
