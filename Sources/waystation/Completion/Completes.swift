import RelayInterface

/// The words that may stand in the place of an operand or of an option's value, for shells that complete it.
enum Completes: Sendable, Equatable {
    case nothing
    case words([String])
    /// The program's commands.
    case commands
    case file
    /// Words that only the daemon knows; the operand may stand more than once when it `repeats`.
    case asked([Candidates.Kind], repeats: Bool = false)

    /// Reads the help text's words in place of a value: `table|json` are words, `FILE` is a file.
    init(placeholder: String) {
        let pieces = placeholder.split(separator: "|").map(String.init)
        let words = pieces.filter { piece in
            piece.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_")
            }
        }
        if !words.isEmpty {
            self = .words(words)
        } else if pieces.contains("FILE") || pieces.contains("PATH") {
            self = .file
        } else {
            self = .nothing
        }
    }

    /// The words of the interface of one kind.
    static func words(of kind: Word.Kind) -> Completes { .words(Word.all(kind).map(\.name)) }
}

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
