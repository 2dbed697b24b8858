import RelayCore
import RelayJSON

/// What a word of the interface means, in the words of waystationd-api(7).
struct Meaning: Sendable {
    /// What the word is a word of; some words are one of several.
    enum Kind: String, CaseIterable, Sendable {
        case problem = "problem code"
        case failure = "failure kind"
        case state = "state of a job"
        case reason = "reason of a wait"
        case end = "end of a job"
        case sent = "word of sent"
    }

    let kind: Kind
    let word: String
    /// The usual status of a problem code.
    let status: Int?
    let text: String
    /// The usual ones; nil where there is nothing to say.
    let causes: String?
    let remedy: String

    init(
        _ kind: Kind,
        _ word: String,
        status: Int? = nil,
        _ text: String,
        causes: String? = nil,
        remedy: String
    ) {
        self.kind = kind
        self.word = word
        self.status = status
        self.text = text
        self.causes = causes
        self.remedy = remedy
    }

    /// Every word of the interface.
    static let all = refusals + troubles + states + reasons + ends + failures + reaches

    /// What a word means; more than one thing for some.
    ///
    /// Case and hyphens make no difference.
    static func of(_ word: String) -> [Meaning] {
        let plain = String(word.lowercased().map { $0 == "-" ? "_" : $0 })
        return all.filter { $0.word == plain }
    }

    /// The word that was probably meant.
    static func nearest(to word: String) -> String? {
        nearestWord(to: word, among: all.map(\.word))
    }

    /// For people, indented under its title.
    var page: String {
        let title = "\(word): \(kind.rawValue)\(status.map { ", status \($0)" } ?? "")\n"
        let parts = [text] + (causes.map { ["Causes: \($0)"] } ?? []) + ["Do: \(remedy)"]
        return title + parts.map { Meaning.filled($0) }.joined()
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("type", kind.rawValue)
        if let status { json.member("status", status) }
        json.member("meaning", text)
        if let causes { json.member("causes", causes) }
        json.member("remedy", remedy)
    }

    /// The text in lines of at most 78 columns where its words allow it, two columns in.
    private static func filled(_ text: String) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > 76 {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        return lines.map { "  \($0)\n" }.joined()
    }
}
