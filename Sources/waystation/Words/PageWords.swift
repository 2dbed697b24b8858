import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs

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
        return "{\n\((kinds + [marks, advice]).joined(separator: ",\n"))\n}\n"
    }

    /// A job's page has the commands that help; an overview says what to do of jobs that are only to be looked at.
    private static func tellsRemedy(of word: Word) -> Bool {
        switch word.kind {
        case .jobAction, .end: false
        case .state: ["dead", "held", "retrying"].contains(word.name)
        default: word.remedy != "No action is needed."
        }
    }

    /// The words beside the figures of a route, by event and state.
    private static var marks: String {
        let lines = EventKind.allCases.flatMap { kind in
            kind.marks.map { "\"\(kind.rawValue.name)\($0.state.map { " \($0)" } ?? "")\":\"\($0.text)\"" }
        }
        return "\"mark\":{\n\(lines.joined(separator: ",\n"))\n}"
    }

    /// The commands of the ends and of the reasons, as `to give up: $drop` where the row has `to give up: waystation jobs
    /// drop JOB`.
    ///
    /// Those of `exhausted` and `backoff` are those of every end and reason that is not there; all that leave it in doubt
    /// whether the request was carried out have those of `outcome_unknown`.
    private static var advice: String {
        let ends = lines(Word.all(.end).filter { $0.name != EndReason.notRepeatable.rawValue })
        let running = Word.all(.state).filter { $0.name == JobState.running.name }
        let lines = ends + lines(Word.all(.reason) + running)
        return "\"advice\":{\n\(lines.joined(separator: ",\n"))\n}"
    }

    /// A line for each word whose commands are others than those of the first.
    private static func lines(_ words: [Word]) -> [String] {
        words.filter { $0.name == words[0].name || $0.commands != words[0].commands }.map { word in
            let clauses = word.commands.map { clause in
                let parts = clause.parts(between: "waystation ")
                let words = parts[1].split(separator: " ")
                return "\(parts[0])$\(words[0] == "jobs" ? words[1] : words[0])"
            }
            return "\"\(word.name)\":\"\(clauses.joined(separator: ";"))\""
        }
    }
}
