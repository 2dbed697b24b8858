import RelayBase
import RelayJSON

/// The meaning of a word of the program's outputs; for one of the interface, in the words of waystationd-api(7).
struct Meaning: Sendable {
    /// The kind of thing that the word names; some words are of several kinds.
    enum Kind: String, CaseIterable, Sendable {
        case problem = "problem code"
        case failure = "failure kind"
        case state = "state of a job"
        case reason = "reason of a wait"
        case end = "end of a job"
        case sent = "word of sent"
        case routeState = "state of a route"
        case daemonState = "state of the daemon"
        case storeState = "state of the job store"
        case credentialState = "state of a credential"
        case source = "source of an answer"
        case outcome = "outcome of a request"
        case action = "action of a rule"
        case rule = "rule of the relay's own"
        case jobAction = "action on jobs"
        case role = "role of a listener"
        case group = "group of failure kinds"
        case event = "event"
        case fault = "fault of a message"
        case key = "key of the configuration"
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

    /// Every word.
    static let all: [Meaning] =
        refusals + troubles + states + reasons + ends + failures + reaches + routeStates + daemonStates
        + storeStates + credentialStates + sources + outcomes + actions + rules + jobActions + roles + groups
        + events
        + faults

    /// The meanings of a word; some words have more than one.
    ///
    /// Case and hyphens make no difference.
    static func of(_ word: String) -> [Meaning] {
        func plainly(_ word: String) -> String {
            String(word.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 })
        }
        var plain = plainly(word)
        if plain.hasPrefix("waystation.") { plain.removeFirst("waystation.".count) }
        let known = all.filter { plainly($0.word) == plain }
        return known.isEmpty ? keys(plain) : known
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

    private static func filled(_ text: String) -> String {
        TextFill.lines(text, columns: 78, indent: 2, hanging: 2)
    }
}
