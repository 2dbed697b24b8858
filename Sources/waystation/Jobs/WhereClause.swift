import RelayBase
import RelayClient
import RelayInterface
import RelayJSON

/// Which jobs an action is for, as the command line says it and as the API wants it.
struct WhereClause {
    private(set) var filter: [JSONValue.Member] = []
    /// The kind of failure that is looked for.
    private(set) var kind: String?
    /// The jobs that a person is asked about: `route=a, state=dead`.
    private(set) var text = "all there are"

    private static let names = [
        "route", "state", "reason", "end", "kind", "status", "upstream", "label", "since", "before",
    ]

    init(ids: [String]) throws(CommandFailure) {
        guard ids.count <= 1_000 else {
            throw .usage("a dry run and a rate take at most 1000 ids", of: "jobs")
        }
        filter = [JSONValue.Member("ids", .array(ids.map { .string($0) }))]
        text = "those that were named"
    }

    /// Reads `route=a,state=dead,state=expired`; `all` alone means every job.
    init(_ clauses: [String], now: Int64) throws(CommandFailure) {
        let pairs = clauses.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        if pairs == ["all"] { return }
        var states: [JSONValue] = []
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init
            )
            guard parts.count == 2, !parts[1].isEmpty else {
                throw .usage(
                    "--where takes name=value pairs such as route=a,state=dead, or all; not \"\(safe(String(pair)))\"",
                    of: "jobs"
                )
            }
            let (name, value) = (parts[0], parts[1])
            switch name {
            case "state": states += value.split(separator: "|").map { .string(String($0)) }
            case "route", "reason", "end", "upstream", "label": try add(name, value)
            case "kind":
                kind = value
                try add("failure_kind", value)
            case "status":
                let status = try failureStatus(value, "status=", of: "jobs")
                try add("status", .number(JSONNumber(status)))
            case "since": try add("created_after", try moment(value, now: now, "since", of: "jobs"))
            case "before": try add("created_before", try moment(value, now: now, "before", of: "jobs"))
            default:
                let near =
                    nearestWord(to: name, among: WhereClause.names).map { "; did you mean \($0)?" } ?? ""
                throw .usage("--where knows no \"\(safe(name))\"\(near)", of: "jobs")
            }
        }
        if !states.isEmpty { filter.append(JSONValue.Member("state", .array(states))) }
        text = safe(pairs.joined(separator: ", "))
    }

    /// The same without the jobs that come from `now` on, while a person is asked.
    func closed(at now: Int64) -> WhereClause {
        var closed = self
        let end = filter.first { $0.name == "created_before" }?.value.text.flatMap { WallTime($0) }
        let now = WallTime(milliseconds: now)
        let last = end.map { min($0, now) } ?? now
        closed.filter.removeAll { $0.name == "created_before" }
        closed.filter.append(JSONValue.Member("created_before", .string(last.description)))
        return closed
    }

    private mutating func add(_ name: String, _ value: String) throws(CommandFailure) {
        try add(name, .string(value))
    }

    private mutating func add(_ name: String, _ value: JSONValue) throws(CommandFailure) {
        guard !filter.contains(where: { $0.name == name }) else {
            throw .usage("--where takes one value of each name but state", of: "jobs")
        }
        filter.append(JSONValue.Member(name, value))
    }
}
