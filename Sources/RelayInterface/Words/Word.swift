/// A word of the relay's outputs, as the commands, the page and the manual explain it.
package struct Word: Sendable {
    package let kind: Kind
    package let name: String
    /// The usual status of a problem code.
    package let status: Int?
    package let text: String
    /// The usual ones; nil where there is nothing to say.
    package let causes: String?
    package let remedy: String
    /// The detail of an answer with the problem code.
    let example: String?

    package init(
        _ kind: Kind,
        _ name: String,
        status: Int? = nil,
        _ text: String,
        causes: String? = nil,
        remedy: String
    ) {
        self.kind = kind
        self.name = name
        self.status = status
        self.text = text
        self.causes = causes
        self.remedy = remedy
        example = nil
    }

    /// A word by its row: a line with its sentence, and lines that begin with `Causes:`, `Do:` and `Example:`.
    init(_ kind: Kind, _ name: String, status: Int? = nil, _ row: String) {
        let lines = row.split(separator: "\n")
        func part(_ title: String) -> String? {
            lines.first { $0.hasPrefix(title) }.map { String($0.dropFirst(title.count)) }
        }
        self.kind = kind
        self.name = name
        self.status = status
        text = lines.first.map(String.init) ?? ""
        causes = part("Causes: ")
        remedy = part("Do: ") ?? ""
        example = part("Example: ")
        assert(
            lines.count == [text, causes, remedy, example].count { $0 != nil },
            "\(name): a line says not what it is"
        )
    }
}

extension Word {
    /// The kind of thing that a word names; some words are of several kinds.
    package enum Kind: String, CaseIterable, Sendable {
        case problem = "problem code"
        case state = "state of a job"
        case reason = "reason of a wait"
        case end = "end of a job"
        case failure = "failure kind"
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
        case event
        case fault = "fault of a message"
        case key = "key of the configuration"
    }
}
