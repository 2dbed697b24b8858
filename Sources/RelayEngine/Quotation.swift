/// An upstream's own words, as far as they are shown to whoever asks what became of a request.
enum Quotation {
    /// Characters that are quoted.
    private static let limit = 200
    /// Characters of a word that may be a number of a card, a key or a token when it has a digit, and is not quoted.
    private static let longestWord = 12

    /// One line, cut where it is long, with what may be a secret left out.
    static func text(_ title: String) -> String {
        var words: [String] = []
        var count = 0
        for word in title.split(whereSeparator: \.isWhitespace) {
            let isSecret = word.count > longestWord && word.contains(where: \.isNumber)
            let shown = isSecret ? "***" : String(word.filter(isShown).prefix(limit))
            guard count + shown.count <= limit else { return words.joined(separator: " ") + " …" }
            words.append(shown)
            count += shown.count + 1
        }
        return words.joined(separator: " ")
    }

    private static func isShown(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .privateUse, .surrogate, .unassigned: false
            default: true
            }
        }
    }
}
