extension SeededWorlds {
    /// Worlds of jobs that are kept.
    static let durable = SeededWorlds(
        word: "durable",
        what: "durable jobs",
        size: 120,
        controlWorlds: 60,
        plants: DurablePlant.allCases.map { ($0.rawValue, $0.sentences) }
    ) { seed, plant, _ in
        let world = DurableWorld(seed: seed, jobs: 120, plant: plant.flatMap { DurablePlant(rawValue: $0) })
        return world.result(of: seed)
    }
}
