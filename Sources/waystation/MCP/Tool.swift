import RelayBase
import RelayJSON
import RelayJobs

/// A command that only reads, as an agent calls it.
struct Tool: Sendable {
    let name: String
    let title: String
    let description: String
    let parameters: [ToolParameter]
    /// The words behind the command's name; the values are those of the parameters that are there.
    private let words: @Sendable (_ values: [String: [String]]) throws(ToolFault) -> [String]

    /// Tables for people, or the API's objects.
    private static let format = ToolParameter(
        name: "format",
        kind: .word(["text", "json"]),
        summary: "text for people, which is short, or the interface's own JSON; text"
    )
    private static let route = ToolParameter(name: "route", kind: .text, summary: "of this route only")

    static let all: [Tool] = [
        Tool(
            name: "status",
            title: "What is wrong, and how routes are",
            description: "What is wrong now and what to do about it, then each route with its figures.",
            parameters: []
        ) { _ in [] },
        Tool(
            name: "explain",
            title: "What happened to a job, or what a word means",
            description: """
                Of a job's id: each attempt, the rule that acted, why it waits or how it ended, and what can be done. \
                Of a word of the outputs or a key of the configuration: what it means, its causes and what to do.
                """,
            parameters: [
                ToolParameter(
                    name: "subject",
                    kind: .text,
                    summary: "a job's id of 26 letters and digits, or a word such as rate_limited",
                    isRequired: true
                )
            ]
        ) { ["--", $0["subject"]?.first ?? ""] },
        Tool(
            name: "dead",
            title: "Jobs that were given up",
            description: "Dead jobs by what they died of, with counts, ages and one of each to explain.",
            parameters: [
                ToolParameter(
                    name: "by",
                    kind: .word(["kind", "route", "upstream"]),
                    summary: "what a group has in common; kind"
                ), route,
            ]
        ) { Tool.options(["by", "route"], $0) },
        Tool(
            name: "shape",
            title: "How many jobs wait, and for how long",
            description: "Jobs that wait, by route, state or kind of failure, and by age.",
            parameters: [
                ToolParameter(
                    name: "by",
                    kind: .word(["route", "state", "failure_kind"]),
                    summary: "what a row is of; route"
                )
            ]
        ) { Tool.options(["by"], $0) },
        Tool(
            name: "what-if",
            title: "What a route would do with failures",
            description: """
                Runs the route's real machine on an imagined series of outcomes, and sends nothing: each attempt, the \
                rule that acts, the waits, and what the caller gets and when. The last outcome goes on for ever.
                """,
            parameters: [
                ToolParameter(name: "route", kind: .text, summary: "the route's name", isRequired: true),
                ToolParameter(
                    name: "failures",
                    kind: .texts,
                    summary: """
                        outcomes in order: a status such as 503, ok, timeout, refused, reset, dns, tls, unreachable, a \
                        kind of failure, token:401, found or absent (verify), running, done or failed (follow); 503x3 \
                        repeats; 429,retry-after=2m and ok,in=2s say more
                        """,
                    isRequired: true
                ),
                ToolParameter(name: "method", kind: .text, summary: "the request's method"),
                ToolParameter(name: "key", kind: .flag, summary: "the request has an idempotency key"),
                ToolParameter(
                    name: "durable",
                    kind: .flag,
                    summary: "the request is kept, and delivered from there"
                ),
                ToolParameter(name: "body", kind: .document, summary: "the request's content"),
                ToolParameter(
                    name: "at",
                    kind: .text,
                    summary: "when it begins, as 2027-01-31T08:00:00Z; now"
                ),
            ]
        ) { values throws(ToolFault) in
            let failures = values["failures"] ?? []
            // The command would read them as files.
            guard !failures.isEmpty,
                !failures.contains(where: { $0.utf8.contains { $0 == 0x40 || $0 == 0x2F } })
            else { throw ToolFault("failures is a list of outcomes such as 503, and none is a file") }
            let flags = ["key", "durable"].filter { values[$0]?.isEmpty == false }.map { "--\($0)" }
            return Tool.options(["method", "body", "at"], values) + flags + [
                "--", values["route"]?.first ?? "",
            ]
                + failures
        },
        Tool(
            name: "events",
            title: "What happened lately",
            description: "The last events that the daemon remembers, oldest first, a line each.",
            parameters: [
                route, ToolParameter(name: "job", kind: .text, summary: "of this job only"),
                ToolParameter(
                    name: "types",
                    kind: .texts,
                    summary: "only of these types, such as "
                        + EventKind.asked.prefix(6).map(\.rawValue.name).joined(separator: ", ")
                ),
                ToolParameter(name: "limit", kind: .count(1...500), summary: "how many at most; 50"),
            ]
        ) { values in
            Tool.options(["route", "job"], values) + (values["types"] ?? []).map { "--type=\($0)" }
        },
    ]

    /// `--name=value` of each that there is.
    private static func options(_ names: [String], _ values: [String: [String]]) -> [String] {
        names.flatMap { name in (values[name] ?? []).map { "--\(name)=\($0)" } }
    }

    init(
        name: String,
        title: String,
        description: String,
        parameters: [ToolParameter],
        words: @escaping @Sendable ([String: [String]]) throws(ToolFault) -> [String]
    ) {
        (self.name, self.title, self.description) = (name, title, description)
        self.parameters = parameters + [Tool.format]
        self.words = words
    }

    /// A call of it, as its command line has it.
    struct Call {
        let words: [String]
        /// Lines from the end that are told; nil tells all.
        var lines: Int?
    }

    /// - Throws: what is wrong with the arguments.
    func call(_ arguments: JSONValue?) throws(ToolFault) -> Call {
        var values: [String: [String]] = [:]
        switch arguments {
        case nil: break
        case .object(let members)?:
            for member in members {
                guard let parameter = parameters.first(where: { $0.name == member.name }) else {
                    let names = parameters.map(\.name).joined(separator: ", ")
                    throw ToolFault("\(name) knows no \"\(safe(member.name))\"; it takes \(names)")
                }
                values[member.name] = try parameter.read(member.value)
            }
        default: throw ToolFault("the arguments are an object")
        }
        if let missing = parameters.first(where: { $0.isRequired && values[$0.name] == nil }) {
            throw ToolFault("\(name) needs \(missing.name): \(missing.summary)")
        }
        let isEvents = name == "events"
        let format = values["format"] == ["json"] ? [isEvents ? "--output=ndjson" : "--output=json"] : []
        var call = Call(words: [name] + format + (try words(values)))
        if isEvents { call.lines = values["limit"]?.first.flatMap { Int($0) } ?? 50 }
        return call
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("name", name)
        json.member("title", title)
        json.member("description", description)
        json.object("inputSchema") { json in
            json.member("type", "object")
            json.object("properties") { json in for each in parameters { each.writeSchema(into: &json) } }
            let required = parameters.filter(\.isRequired)
            if !required.isEmpty {
                json.array("required") { list in for each in required { list.element(each.name) } }
            }
            json.member("additionalProperties", false)
        }
        json.object("annotations") { json in
            json.member("title", title)
            json.member("readOnlyHint", true)
            json.member("destructiveHint", false)
            json.member("idempotentHint", true)
            json.member("openWorldHint", false)
        }
    }
}
