import RelayBase
import RelayJSON

/// A run as the daemon tells it.
struct RunDocument {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    var number: Int64 { json["number"]?.integer ?? 0 }
    var state: String { word("state") }
    var isOver: Bool { state != "running" }
    var count: BulkRun.Count { BulkRun.Count(json) }
    private var action: JobActionWord? { json["action"]?.text.flatMap(JobActionWord.init) }

    private func word(_ name: String) -> String { safe(json[name]?.text ?? "–") }

    /// Which jobs it is for, as a filter of the command line says it.
    var filter: String {
        guard case .object(let members)? = json["filter"], !members.isEmpty else { return "all" }
        let names = ["failure_kind": "kind", "created_after": "since", "created_before": "before"]
        return safe(
            members.map { member in
                if member.name == "ids" {
                    let count = member.value.elements.count
                    return "\(count) job\(count == 1 ? "" : "s") by id"
                }
                let values = member.value.elements.isEmpty ? [member.value] : member.value.elements
                let words = values.map { $0.text ?? $0.integer.map { "\($0)" } ?? "" }
                return "\(names[member.name] ?? member.name)=\(words.joined(separator: "|"))"
            }.joined(separator: ",")
        )
    }

    /// `98 of 212`.
    var progress: String {
        "\(count.changed)" + (json["total"]?.integer.map { " of \($0)" } ?? "")
    }

    /// How it is, in a sentence without its end.
    func told(_ moments: Moments) -> String {
        switch state {
        case "running":
            let next = json["next_at"]?.text.map { ", next \(moments.coming($0))" } ?? ""
            return "\(count.matched) looked at\(next)"
        case "stopped": return "stopped by \(principalText(json["ended_by"]) ?? "somebody")"
        case "failed": return word("detail")
        default: return count.text(action, isDryRun: false)
        }
    }

    /// A row of the list.
    func cells(_ moments: Moments) -> [String] {
        [
            "\(number)", state, word("action"), progress, word("rate"), principalText(json["by"]) ?? "–",
            moments.age(json["started_at"]?.text), filter, told(moments),
        ]
    }

    static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("RUN", .right), ("STATE", .left), ("ACTION", .left), ("CHANGED", .left), ("RATE", .left),
        ("BY", .left),
        ("AGE", .right), ("JOBS", .left), ("NOTE", .left),
    ]

    func sheet(_ moments: Moments) -> String {
        func moment(_ name: String) -> String? { json[name]?.text.map { moments.precise($0) } }
        let rows: [(title: String, value: String?)] = [
            ("run", "\(number)"), ("state", "\(state), \(told(moments))"), ("action", word("action")),
            ("jobs", filter), ("changed", progress), ("rate", json["rate"]?.text.map { safe($0) }),
            ("reason", json["reason"]?.text.map { safe($0) }), ("by", principalText(json["by"])),
            ("started", moment("started_at")), ("ended", moment("ended_at")),
        ]
        return TextTable.sheet(rows, width: 9)
    }

    /// Says that it goes on without the command.
    func tellBegun(_ daemon: DaemonAccess, _ isQuiet: Bool) {
        if isQuiet { return Output.standard.write("\(number)\n") }
        Output.standard.write("run \(number) began: \(word("action")) of \(filter)\n")
        Output.error.write("It goes on by itself; to end it: \(daemon.advice("runs stop \(number)"))\n")
    }

    /// Says what came of it.
    func tellEnd(isJSON: Bool, isQuiet: Bool) -> ExitCode {
        let isDone = state == "done"
        if isJSON {
            Output.standard.write(json.line)
        } else if !isQuiet || !isDone {
            let end =
                isDone
                ? ""
                : "; run \(number) \(state == "failed" ? "failed: " : "was ")\(told(Moments(isUTC: true)))"
            Output.standard.write(count.text(action, isDryRun: false) + end + "\n")
        }
        return isDone ? .done : .failed
    }
}
