/// A bug put in on purpose, between what a checker believes and what the core is given or told: a checker that finds none
/// of them proves nothing.
///
/// Its raw value is its name and, after a colon, the parts of sentences of which the checker must say one, set apart by bars.
protocol PlantedBug: RawRepresentable<String>, CaseIterable, Sendable {}

extension PlantedBug {
    private var parts: [String] { rawValue.split(separator: ": ").map(String.init) }

    var name: String { parts[0] }

    var sentences: [String] { parts[1].split(separator: " | ").map(String.init) }

    static func named(_ name: String?) -> Self? { allCases.first { $0.name == name } }
}
