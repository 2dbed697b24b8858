/// The settings that the command line asks for.
struct Arguments {
    /// Of the first world; the others follow.
    var seed: UInt64 = 1
    var jobs = 1_000_000
    /// Stop starting worlds after so many seconds; nil runs all jobs.
    var seconds: Int?
    var plant: Plant?
    var runsControls = false
    /// Worlds of another kind instead, and the bug planted in them.
    var worlds: SeededWorlds?
    var worldsPlant: String?
    /// Tells every moment of a job.
    var traced: Int?
    /// A seed of the day's, run beside the fixed ones.
    var extraSeed: UInt64?
    var threads = 2
    /// Play the scenarios instead, and only those whose names begin so.
    var playsScenarios = false
    var scenario: String?

    static let usage = """
        usage: Simulation [--seed N] [--jobs N] [--seconds N] [--extra-seed N] [--threads N] [--plant NAME]
                          [--trace --job N] [--controls] [--durable [--durable-plant NAME]]
                          [--traffic [--traffic-plant NAME]] [--pass-through [--pass-through-plant NAME]]
                          [--scenarios [NAME]]
        plants: \(Plant.allCases.map(\.rawValue).joined(separator: " "))
        around durable jobs: \(SeededWorlds.durable.plants.map(\.name).joined(separator: " "))
        around traffic: \(SeededWorlds.traffic.plants.map(\.name).joined(separator: " "))
        around requests that are passed through: \(SeededWorlds.passing.plants.map(\.name).joined(separator: " "))
        """

    /// Nil when a word is none of these.
    init?(_ words: [String]) {
        var rest = words[...]
        func number(_ word: String?) -> Int? { word.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
        while let word = rest.popFirst() {
            switch word {
            case "--controls": runsControls = true
            case "--scenarios":
                playsScenarios = true
                if rest.first?.hasPrefix("--") == false { scenario = rest.popFirst() }
            case "--durable", "--durable-plant", "--traffic", "--traffic-plant", "--pass-through",
                "--pass-through-plant":
                let kind: SeededWorlds =
                    word.hasPrefix("--durable") ? .durable : word.hasPrefix("--traffic") ? .traffic : .passing
                worlds = kind
                guard word.hasSuffix("-plant") else { continue }
                guard let name = rest.popFirst(), kind.plants.contains(where: { $0.name == name }) else {
                    return nil
                }
                worldsPlant = name
            case "--trace": traced = traced ?? 0
            case "--plant":
                guard let name = rest.popFirst(), let plant = Plant(rawValue: name) else { return nil }
                self.plant = plant
            case "--seed", "--jobs", "--seconds", "--job", "--extra-seed", "--threads":
                guard let number = number(rest.popFirst()) else { return nil }
                switch word {
                case "--seed": seed = UInt64(number)
                case "--jobs": jobs = number
                case "--seconds": seconds = number
                case "--job": traced = number
                case "--extra-seed": extraSeed = UInt64(number)
                default: threads = max(1, number)
                }
            default: return nil
            }
        }
    }
}
