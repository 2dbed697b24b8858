import RelayInterface

/// The words that may stand behind a command, or behind the program where none has a name yet.
struct CompletedCommand {
    let name: String
    let options: [OptionSpec]
    /// The operands at `1`, `2` and so on, or at `2+` from there on.
    let operands: [(place: String, completes: Completes)]

    static var all: [CompletedCommand] {
        [CompletedCommand(name: "", options: CommandWords.common, operands: [])]
            + Command.all.map { CompletedCommand(name: $0.name, options: $0.options, operands: operands($0)) }
    }

    private static func operands(_ command: Command) -> [(place: String, completes: Completes)] {
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
