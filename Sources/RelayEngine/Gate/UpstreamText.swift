import RelayBase

/// An upstream's own words, as far as they are shown to whoever asks what became of a request.
///
/// A word that could be a secret is left out, at the cost of a name or a number now and then: plain prose stays.
package enum UpstreamText {
    /// Characters that are quoted.
    private static let limit = 200
    /// From how many characters on a word may be a secret that is not plain.
    private static let shortestSecret = 8
    /// Letters of one case from which on a word may be a secret: lower case, as in prose, or upper case alone.
    private static let longestRun = (lower: 24, upper: 12)
    /// Parts of a compound from which on it may be a passphrase.
    private static let longestCompound = 4
    private static let mask = "***"

    /// One line, cut where it is long, with what may be a secret left out.
    package static func text(_ title: String) -> String {
        let words = masked(
            title.split(whereSeparator: \.isWhitespace).map { $0.filter(isShown) }.filter { !$0.isEmpty }
        )
        var count = 0
        for (index, word) in words.enumerated() {
            guard count + word.count <= limit else { return words[..<index].joined(separator: " ") + " …" }
            count += word.count + 1
        }
        return words.joined(separator: " ")
    }

    private static func masked(_ words: [String]) -> [String] {
        let cores = words.map { core(of: $0) }
        var hidden = cores.map { isSecret($0) }
        // A number of a card or an account is often written in groups.
        var group = 0
        for index in cores.indices {
            group = hasDigit(cores[index]) ? group + 1 : 0
            guard group > 1 else { continue }
            let range = index - group + 1...index
            if cores[range].reduce(0, { $0 + $1.count }) >= shortestSecret {
                for member in range { hidden[member] = true }
            }
        }
        var follows = false
        for index in cores.indices where !cores[index].isEmpty {
            let word = cores[index].lowercased()
            if announces(cores[index]) {
                follows = true
            } else if follows, !connectors.contains(word) {
                follows = !harmless.contains(word)
                hidden[index] = hidden[index] || follows
            }
        }
        return words.indices.map { index in
            guard hidden[index] else { return words[index] }
            let (word, core) = (words[index], cores[index])
            return word[..<core.startIndex] + mask + word[core.endIndex...]
        }
    }

    /// The word without the punctuation around it.
    private static func core(of word: String) -> Substring {
        let isInner = { (character: Character) in character.isLetter || character.isNumber }
        guard let first = word.firstIndex(where: isInner), let last = word.lastIndex(where: isInner) else {
            return ""
        }
        return word[first...last]
    }

    private static func hasDigit(_ word: Substring) -> Bool { word.contains(where: \.isNumber) }

    private static func isSecret(_ word: Substring) -> Bool {
        if word.contains("@") || word.contains(text: "://") { return true }
        if let cut = word.firstIndex(where: { $0 == "=" || $0 == ":" }), announces(word[..<cut]) {
            return true
        }
        let parts = word.split(whereSeparator: joiners.contains)
        if parts.allSatisfy(isPlain) { return parts.count >= longestCompound }
        return word.count >= shortestSecret
    }

    /// Whether it is written like a word of prose.
    private static func isPlain(_ part: Substring) -> Bool {
        guard part.allSatisfy(\.isLetter) else { return false }
        let isUpper = part.allSatisfy { !$0.isLowercase }
        guard isUpper || part.dropFirst().allSatisfy({ !$0.isUppercase }) else { return false }
        // Letters without case are those of scripts that put no spaces between words.
        guard part.allSatisfy(\.isASCII) else { return true }
        if part.count >= shortestSecret, part.allSatisfy(\.isHexDigit) { return false }
        return part.count < (isUpper ? longestRun.upper : longestRun.lower)
    }

    /// Whether what comes next may be a secret whatever it looks like.
    private static func announces(_ word: Substring) -> Bool {
        let parts = word.lowercased().split(whereSeparator: joiners.contains)
        guard let last = parts.last else { return false }
        return announcers.contains(String(last))
            || last.hasSuffix("s") && announcers.contains(String(last.dropLast()))
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

// The words that decide whether others are shown.
extension UpstreamText {
    private static let joiners = Set<Character>("-'’/_.:,;")

    private static let announcers: Set<String> = [
        "token", "key", "apikey", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "pin",
        "otp", "bearer", "authorization", "credential", "cookie", "session", "signature", "nonce", "jwt",
        "assertion",
    ]

    /// They stand between a secret and its name.
    private static let connectors: Set<String> = [
        "is", "was", "are", "were", "value", "equals", "named", "called", "given",
    ]

    /// They are said of a secret, and are none.
    private static let harmless: Set<String> = [
        "a", "about", "absent", "after", "already", "an", "and", "another", "as", "at", "bad", "be",
        "because", "been", "before", "belongs", "but", "by", "can", "cannot", "constraint", "contains",
        "could", "denied", "did", "disabled", "does", "doesn't", "duplicate", "empty", "endpoint", "error",
        "exceeded", "exchange", "exists", "expired", "expires", "failed", "failure", "field", "for", "format",
        "found", "from", "had", "has", "hasn't", "have", "header", "id", "if", "in", "incorrect", "inactive",
        "insufficient", "into", "invalid", "isn't", "issued", "it", "its", "lacks", "length", "limit",
        "locked", "malformed", "may", "mismatch", "mismatched", "missing", "must", "name", "needs", "new",
        "no", "not", "of", "off", "old", "on", "only", "or", "parameter", "provided", "refused", "rejected",
        "required", "revoked", "scope", "scopes", "sent", "should", "supplied", "that", "the", "there",
        "this", "timed", "to", "too", "type", "unknown", "unsupported", "until", "used", "verification",
        "violates", "violation", "wasn't", "were", "when", "which", "will", "with", "without", "wrong", "you",
        "your",
    ]
}

extension Attempt {
    /// As it goes on record: of the upstream's own words only what may be shown.
    var onRecord: Attempt {
        guard let title = failure?.apiTitle else { return self }
        var kept = self
        kept.failure?.apiTitle = UpstreamText.text(title)
        return kept
    }
}
