struct Arguments {
    /// Of the first world; the others follow.
    var seed: UInt64 = 1
    var jobs = 1_000_000
    /// Stop starting worlds after so many seconds; nil runs all jobs.
    var seconds: Int?
    var runsControls = false
    var worlds = SeededWorlds.requests
    var plant: String?
    /// Tells every moment of a job.
    var traced: Int?
    /// A seed of the day's, run beside the fixed ones.
    var extraSeed: UInt64?
    var threads = 2
    /// Play the scenarios instead, and only those whose names begin so.
    var playsScenarios = false
    var scenario: String?

    private static let kinds: [SeededWorlds] = [.requests, .durable, .traffic, .passing]

    static var usage: String {
        """
        usage: Simulation [--durable | --traffic | --pass-through | --scenarios [NAME]] [--seed N] [--jobs N]
                          [--seconds N] [--extra-seed N] [--threads N] [--plant NAME] [--trace --job N] [--controls]
        """
            + kinds.map { "\nplants around \($0.what): \($0.plants.map(\.name).joined(separator: " "))" }
            .joined()
    }

    init?(_ words: [String]) {
        var rest = words[...]
        func number() -> Int? { rest.popFirst().flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
        while let word = rest.popFirst() {
            switch word {
            case "--controls": runsControls = true
            case "--scenarios":
                playsScenarios = true
                if rest.first?.hasPrefix("--") == false { scenario = rest.popFirst() }
            case "--trace": traced = traced ?? 0
            case "--plant": plant = rest.popFirst() ?? ""
            case "--seed", "--jobs", "--seconds", "--job", "--extra-seed", "--threads":
                guard let number = number() else { return nil }
                switch word {
                case "--seed": seed = UInt64(number)
                case "--jobs": jobs = number
                case "--seconds": seconds = number
                case "--job": traced = number
                case "--extra-seed": extraSeed = UInt64(number)
                default: threads = max(1, number)
                }
            default:
                guard let kind = Arguments.kinds.first(where: { $0.word == word }) else { return nil }
                worlds = kind
            }
        }
        if let plant, !worlds.plants.contains(where: { $0.name == plant }) { return nil }
    }
}
