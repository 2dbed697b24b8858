import RelayInterface

/// The words that may stand behind a command, or behind the program where none has a name yet.
struct CompletedCommand {
    let name: String
    let options: [OptionSpec]
    /// The operands at `1`, `2` and so on, or at `2+` from there on.
    let places: [(place: String, completes: Completes)]

    static var all: [CompletedCommand] {
        [CompletedCommand(name: "", options: CommandWords.common, places: [])]
            + Command.all.map { CompletedCommand(name: $0.name, options: $0.options, places: places($0)) }
    }

    private static func places(_ command: Command) -> [(place: String, completes: Completes)] {
        command.operands.enumerated().map { index, completes in
            let repeats = if case .asked(_, true) = completes { true } else { false }
            return ("\(index + 1)\(repeats ? "+" : "")", completes)
        }
    }
}

extension OptionSpec {
    /// `--output` and `-o`.
    var spellings: [String] { ["--\(name)"] + (short.map { ["-\($0)"] } ?? []) }
}
