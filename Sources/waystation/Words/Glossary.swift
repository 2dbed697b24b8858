import RelayBase
import RelayConfig
import RelayHTTP
import RelayInterface

/// Every word that `waystation explain` explains: those of the interface, the faults of messages and the keys of the
/// configuration.
enum Glossary {
    /// The words but the keys of the configuration, which `keys` finds.
    static let words = Word.Kind.allCases.flatMap(words)

    static func words(_ kind: Word.Kind) -> [Word] { kind == .fault ? faults : Word.all(kind) }

    /// The meanings of a word; some words have more than one, and a key of the configuration yields to another meaning.
    ///
    /// Case, hyphens and blanks make no difference.
    static func meanings(of word: String) -> [Word] {
        func plainly(_ word: String) -> String {
            String(word.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 })
        }
        var plain = plainly(word)
        if plain.hasPrefix("waystation.") { plain.removeFirst("waystation.".count) }
        let known = words.filter { plainly($0.name) == plain }
        return known.isEmpty ? keys(plain) : known
    }

    /// The word or key that was probably meant.
    static func nearest(to word: String) -> String? {
        let parts = 1 + word.count { $0 == "." }
        return nearestWord(to: word, among: words.map(\.name) + ConfigurationKey.endings(of: parts))
    }

    /// Keys of the configuration whose path ends so, as waystation.json(5) has them.
    static func keys(_ name: String) -> [Word] {
        ConfigurationKey.named(name).map { key in
            let value = "It takes \(key.what)" + (key.isRequired ? ", and has to be there." : ".")
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
                    "A caller's request, answered with the status; or an upstream's answer, which is http_protocol_error.",
                remedy: parts.count > 1 ? parts[1] : "Correct the program that sent the message."
            )
        }
    }
}
