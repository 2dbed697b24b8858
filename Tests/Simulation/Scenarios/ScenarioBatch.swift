/// Plays scenarios and their controls, and tells what they came to.
enum ScenarioBatch {
    /// Those of that name, or whose name begins so; all without one.
    static func run(_ name: String?, seed: UInt64) -> Int32 {
        let chosen = Scenario.all.filter { scenario in name.map { scenario.name.hasPrefix($0) } ?? true }
        guard !chosen.isEmpty else {
            let names = Scenario.all.map(\.name).joined(separator: " ")
            print("there is no such scenario; the scenarios are: \(names)")
            return 64
        }
        let began = monotonicNanoseconds()
        var missed = 0
        for scenario in chosen {
            print("\(scenario.name): \(scenario.title)")
            for isControl in [false, true] { missed += play(scenario, seed, isControl: isControl) }
        }
        let seconds = tenths(Double(monotonicNanoseconds() - began) / 1e9)
        print("\(chosen.count) scenarios with their controls, \(missed) figures missed; \(seconds) s")
        return missed == 0 ? 0 : 1
    }

    /// - Returns: how many figures are not as they have to be; a control that misses none counts as one.
    private static func play(_ scenario: Scenario, _ seed: UInt64, isControl: Bool) -> Int {
        let plays = (0..<UInt64(isControl ? 1 : scenario.plays)).map { number in
            let world = ScenarioWorld(seed: seed + number, isControl: isControl)
            defer { world.end() }
            return scenario.play(world)
        }
        if isControl { print("  without \(scenario.control):") }
        var judged = 0
        var wrong = 0
        for index in plays[0].indices {
            let figure = Figure(middle: plays.map { $0[index] })
            guard let isRight = figure.isRight(inControl: isControl) else { continue }
            judged += 1
            if !isRight { wrong += 1 }
            print("  \(isRight ? "ok    " : "MISSED") \(figure.text(inControl: isControl))")
        }
        return judged == 0 ? 1 : wrong
    }
}
