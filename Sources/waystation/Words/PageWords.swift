import RelayBase
import RelayInterface
import RelayJSON

/// The words of the page for browsers, Sources/CPage/words.json: a line for each, so that a change of one is a change of
/// one.
///
/// A word has its text and, where the page tells it, what to do; of reasons and events the names alone.
enum PageWords {
    /// The kinds that stand on the page, by the names it has for them.
    private static let kinds: KeyValuePairs<String, Word.Kind> = [
        "state": .state, "reason": .reason, "end": .end, "failure": .failure,
        "route": .routeState, "daemon": .daemonState, "store": .storeState, "credential": .credentialState,
        "job_action": .jobAction, "event": .event,
    ]

    static var document: String {
        let kinds = kinds.map { name, kind in
            let words = Word.all(kind).filter { kind != .jobAction || $0.name != "expunge" }
            if kind == .event || kind == .reason {
                return "\"\(name)\":[\n\(words.map { "\"\($0.name)\"" }.joined(separator: ",\n"))\n]"
            }
            let lines = words.map { word in
                var json = JSONArrayWriter()
                json.element(word.text)
                if tellsRemedy(of: word) { json.element(word.remedy) }
                return "\"\(word.name)\":" + String(decoding: json.bytes, as: UTF8.self)
            }
            return "\"\(name)\":{\n\(lines.joined(separator: ",\n"))\n}"
        }
        return "{\n\((kinds + [advice]).joined(separator: ",\n"))\n}\n"
    }

    /// A job's page has the commands that help; an overview says what to do of jobs that are only to be looked at.
    private static func tellsRemedy(of word: Word) -> Bool {
        switch word.kind {
        case .jobAction, .end: false
        case .state: ["dead", "held", "retrying"].contains(word.name)
        default: word.remedy != "No action is needed."
        }
    }

    /// The commands of the ends, as `to give up: $drop` where the row has `to give up: waystation jobs drop JOB`.
    ///
    /// Those of `exhausted` are those of every end that is not there; all that leave it in doubt whether the request was
    /// carried out have those of `outcome_unknown`.
    private static var advice: String {
        var lines: [String] = []
        let usual = Word.all(.end)[0].commands
        for word in Word.all(.end) where word.name != "not_repeatable" {
            guard lines.isEmpty || word.commands != usual else { continue }
            let clauses = word.commands.map { clause in
                let parts = clause.parts(between: "waystation ")
                let words = parts[1].split(separator: " ")
                return "\(parts[0])$\(words[0] == "jobs" ? words[1] : words[0])"
            }
            lines.append("\"\(word.name)\":\"\(clauses.joined(separator: ";"))\"")
        }
        return "\"advice\":{\n\(lines.joined(separator: ",\n"))\n}"
    }
}
