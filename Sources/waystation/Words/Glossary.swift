import RelayBase
import RelayConfig
import RelayHTTP
import RelayInterface

/// The meanings that `waystation explain` knows: words of the interface, faults of messages and keys of the
/// configuration.
enum Glossary {
    /// All words but the keys of the configuration, which `keys` finds.
    static let words = Word.Kind.allCases.flatMap(words)

    static func words(_ kind: Word.Kind) -> [Word] { kind == .fault ? faults : Word.all(kind) }

    /// Kinds of plain words, which keys of the configuration have for names too.
    private static let plain: [Word.Kind] = [.lookUp, .cause, .breaker, .run, .delivery, .ordinaryPath]

    /// The meanings of a word; some words have more than one, and a key of the configuration yields to another meaning, but
    /// to that of a plain word.
    ///
    /// Case, hyphens and blanks make no difference.
    static func meanings(of word: String) -> [Word] {
        func folded(_ word: String) -> String {
            String(word.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 })
        }
        var plain = folded(word)
        // Events have this prefix in the types of CloudEvents.
        if plain.hasPrefix("waystation.") { plain.removeFirst("waystation.".count) }
        let known = words.filter { folded($0.name) == plain }
        return known.allSatisfy { Self.plain.contains($0.kind) } ? known + keys(plain) : known
    }

    /// The word or key that is closest by spelling.
    static func nearest(to word: String) -> String? {
        let parts = 1 + word.count { $0 == "." }
        return nearestWord(to: word, among: words.map(\.name) + ConfigurationKey.endings(of: parts))
    }

    /// The keys of the configuration whose path ends in `name`, as in waystation.json(5).
    static func keys(_ name: String) -> [Word] {
        ConfigurationKey.named(name).map { key in
            let value = "It takes \(key.what)" + (key.isRequired ? ", and is required." : ".")
            return Word(
                .key,
                key.path,
                "\(key.doc) \(value)" + (key.defaultText.map { " Default: \($0)." } ?? ""),
                remedy: "Change it in the configuration, then waystation check and waystation reload."
            )
        }
    }

    /// The faults that the parser of messages finds.
    private static var faults: [Word] {
        HTTPParseError.Code.allCases.map { code in
            // An explanation may have a remedy behind a semicolon.
            let parts = code.explanation.split(separator: ";", maxSplits: 1).map { part in
                let text = part.drop { $0 == " " }
                return text.prefix(1).uppercased() + text.dropFirst() + "."
            }
            return Word(
                .fault,
                code.rawValue,
                status: Int(code.status.rawValue),
                parts[0],
                causes:
                    "A malformed request, answered with this status, or a malformed answer, which fails with http_protocol_error.",
                remedy: parts.count > 1 ? parts[1] : "Correct the program that sent the message."
            )
        }
    }
}
