import RelayInterface

/// The words that may stand in the place of an operand or of an option's value, for shells that complete it.
enum Completes: Sendable, Equatable {
    case nothing
    case words([String])
    /// The program's commands.
    case commands
    case file
    /// Words that only the daemon knows; the operand may stand more than once when it `repeats`.
    case asked([CandidateKind], repeats: Bool = false)

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

/// Words that only the daemon knows.
enum CandidateKind: String, Sendable {
    case routes
    /// Routes, and their upstreams as `ROUTE/UPSTREAM`.
    case upstreams
    /// The latest.
    case jobs
    /// Those of the latest jobs.
    case labels
    /// The words that `waystation explain` explains.
    case words
}
