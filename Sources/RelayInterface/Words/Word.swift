import RelayBase
import RelayJobs

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
    }

    /// A word by its row: a line with its sentence, and lines that begin with a title, such as `Causes:` and `Do:`.
    init(_ kind: Kind, _ name: String, status: Int? = nil, _ row: some StringProtocol) {
        let lines = row.split(separator: "\n")
        self.init(
            kind,
            name,
            status: status,
            lines.first.map { String($0) } ?? "",
            causes: WordRow.line("Causes: ", of: row),
            remedy: WordRow.line("Do: ", of: row) ?? ""
        )
        assert(
            lines.dropFirst().allSatisfy { line in Word.titles.contains { line.hasPrefix($0 + ": ") } },
            "\(name): a line says not what it is"
        )
    }

    private static let titles = [
        "Causes", "Do", "Example", "Names", "Retry-After", "Did-You-Mean", "Kind", "Data", "Relay",
    ]

    init(_ kind: Kind, _ row: WordRow, status: Int? = nil) {
        self.init(kind, row.name, status: status, row.body)
    }

    /// An event has the remedy of the thing that it tells of.
    init(_ event: EventKind) {
        let name = event.rawValue.name
        let remedy =
            name.hasPrefix("job.")
            ? "See the job: waystation explain JOB"
            : name.hasPrefix("route.") ? "See the route: waystation routes ROUTE" : "See waystation status."
        self.init(.event, name, String(event.rawValue.sentence), remedy: remedy)
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
        case trouble = "kind of trouble"
        case source = "source of an answer"
        case outcome = "outcome of a request"
        case action = "action of a rule"
        case rule = "rule of the relay's own"
        case jobAction = "action on jobs"
        case role = "role of a listener"
        case lookUp = "answer to a question"
        case endpointStep = "step of a look at the endpoints"
        case endpointResult = "result of a look at the endpoints"
        case cause = "cause of a failure"
        case breaker = "state of a breaker"
        case run = "state of a run"
        case delivery = "mode of delivery"
        case ordinaryPath = "reason of the ordinary path"
        case group = "group of failure kinds"
        case event
        case fault = "fault of a message"
        case key = "key of the configuration"
    }
}
