import RelayBase
import RelayClient
import RelayInterface
import RelayJSON

/// Parameters of a path, in order.
struct QueryText {
    private var pairs: [String] = []

    mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append("\(name)=\(percentEncoded(value))") }
    }

    func target(_ path: String) -> String { pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&") }
}

/// Which jobs a list is of.
struct JobQuery {
    private var query = QueryText()
    /// How many at most; nil for all.
    let limit: Int?
    /// The kind of failure that is looked for.
    private(set) var kind: String?

    /// Jobs of one answer.
    private static let page = 500
    /// Jobs that are listed unless somebody asks for more.
    private static let usual = 50
    /// Options that say which jobs are listed.
    private static let choices = [
        "route", "state", "reason", "end", "failed-by", "status", "label", "node", "since",
    ]

    init(_ arguments: Arguments, now: Int64) throws(CommandFailure) {
        switch arguments["limit"] {
        case nil: limit = JobQuery.usual
        case "all": limit = nil
        case let text?:
            guard let count = Int(text), count > 0 else {
                throw .usage("--limit takes a whole number above zero, or all", of: arguments.command)
            }
            limit = count
        }
        if arguments.has("where") {
            if let other = JobQuery.choices.first(where: arguments.has) {
                throw .usage("--where says which jobs: put --\(other) into it", of: arguments.command)
            }
            let clause = try WhereClause(arguments.all("where"), now: now)
            kind = clause.kind
            for member in clause.filter { query.add(member.name, member.value.parameter) }
            return
        }
        query.add("route", arguments["route"])
        let states = arguments.all("state").joined(separator: ",")
        query.add("state", states.isEmpty ? nil : states)
        query.add("reason", arguments["reason"])
        query.add("end", arguments["end"])
        kind = arguments["failed-by"]
        query.add("failure_kind", kind)
        if let status = arguments["status"] {
            query.add("status", String(try failureStatus(status, "--status", of: arguments.command)))
        }
        guard arguments.all("label").count <= 1 else {
            throw .usage("--label may stand once here", of: arguments.command)
        }
        if let label = arguments["label"] {
            guard label.contains("=") else {
                throw .usage("--label takes name=value", of: arguments.command)
            }
            query.add("label", label)
        }
        query.add("node", arguments["node"])
        if let since = arguments["since"] {
            query.add("created_after", try moment(since, now: now, "--since", of: arguments.command))
        }
    }

    /// Every job in one of these states; in any, where the word is empty.
    init(state: String, route: String?) {
        limit = nil
        query.add("state", state.isEmpty ? nil : state)
        query.add("route", route)
    }

    /// Those that a filter means.
    init(_ clause: WhereClause, limit: Int?) {
        self.limit = limit
        for member in clause.filter { query.add(member.name, member.value.parameter) }
    }

    func target(count: Int, cursor: String?) -> String {
        var query = query
        query.add("limit", String(min(count, JobQuery.page)))
        query.add("cursor", cursor)
        return query.target("/v1/jobs")
    }
}

extension JSONValue {
    /// The value as a parameter of a path has it.
    fileprivate var parameter: String {
        switch self {
        case .string(let text): text
        case .array(let values): values.map(\.parameter).joined(separator: ",")
        case .number(let number): number.text
        case .null, .bool, .object: ""
        }
    }
}

/// The hint of a list without jobs about a kind that is none of the relay's own; routes have kinds of their own.
func kindHint(_ kind: String?) -> String {
    let known = FailureKind.known.map(\.rawValue)
    guard let kind, !known.contains(kind) else { return "" }
    let meant = nearestWord(to: kind, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
    return ": \"\(safe(kind))\" is no kind of failure of the relay's own\(meant)"
}

/// The status of an answer.
func failureStatus(_ text: String, _ option: String, of command: String) throws(CommandFailure) -> Int {
    guard let status = Int(text), (100...999).contains(status) else {
        throw .usage("\(option) takes the status of an answer, such as 503", of: command)
    }
    return status
}

/// A moment as the API wants it: given so, or as a span before `now`.
func moment(
    _ text: String,
    now: Int64,
    _ option: String,
    of command: String
) throws(CommandFailure) -> String {
    if let span = DurationText.parse(text) {
        return WallTime(milliseconds: max(0, now - span.saturatedNanoseconds / 1_000_000)).description
    }
    guard let moment = WallTime(text) else {
        throw .usage(
            "\(option) takes a span such as 90m or 2d, or a date and time such as 2027-01-31T08:00:00Z",
            of: command
        )
    }
    return moment.description
}
