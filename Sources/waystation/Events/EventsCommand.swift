import Glibc
import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayJobs

extension Command {
    static let events = Command(
        "events",
        "[--route NAME] [--job ID] [--type TYPE] [-f] [OPTION...]",
        "Shows what happened to jobs and routes.",
        details: """
            Without -f the events the daemon remembers are printed, with -f those that come from now on, until
            the command is interrupted; after a restart of the daemon it goes on. TYPE is such as job.dead or
            route.paused and may stand more than once. A line "gap" says that events are gone for this reader.

            """,
        options: [
            OptionSpec("route", value: "NAME", "of this route", completes: .asked([.routes])),
            OptionSpec("job", value: "ID", "of this job", completes: .asked([.jobs])),
            OptionSpec(
                "type",
                value: "TYPE",
                "of this type; may stand more than once",
                completes: .words(EventKind.asked.map(\.rawValue.name))
            ),
            OptionSpec("follow", "f", "wait for what comes"),
            OptionSpec("after", value: "NUMBER", "those after this event; 0 is all that are remembered"),
            OptionSpec("output", "o", value: "table|json|ndjson|name", "how to print; name is the job's id"),
            OptionSpec("quiet", "q", "print ids of jobs only"), .utc, .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        return try EventPrinter(arguments).run()
    }
}

/// Prints events as they come.
struct EventPrinter {
    private let daemon: DaemonAccess
    private let style: ListStyle
    private let isUTC: Bool
    private let follows: Bool
    private let query: QueryText
    private let first: String?

    /// The daemon gives a sign of life every 15 seconds.
    private static let silence: Duration = .seconds(45)
    /// Events that are remembered come at once; when none has come for so long, those were all.
    private static let pause: Duration = .milliseconds(500)

    init(_ arguments: Arguments) throws(CommandFailure) {
        style = try ListStyle(arguments)
        isUTC = arguments.has("utc")
        follows = arguments.has("follow")
        daemon = .reading(arguments)
        var query = QueryText()
        query.add("route", arguments["route"])
        if let job = arguments["job"] { query.add("job", try jobID(job, of: "events")) }
        let types = arguments.all("type").map { $0.hasPrefix("waystation.") ? $0 : "waystation.\($0)" }
        query.add("type", types.isEmpty ? nil : types.joined(separator: ","))
        self.query = query
        if let after = arguments["after"] {
            guard UInt64(after) != nil else {
                throw .usage("--after takes the number of an event, a whole number", of: "events")
            }
            first = after
        } else {
            first = follows ? nil : "0"
        }
    }

    func run() throws(CommandFailure) -> ExitCode {
        var last = first
        var isAgain = false
        while true {
            do throws(CommandFailure) {
                var fields = HeaderFields()
                fields.append("Accept", "application/x-ndjson")
                if let last { fields.append("Last-Event-ID", last) }
                let answer = try daemon.stream(query.target("/v1/events"), fields: fields)
                if isAgain, last == nil { Output.error.write("waystation: events may be missing\n") }
                isAgain = true
                guard try read(answer, &last), follows else { return .done }
                Output.error.write("waystation: the daemon has gone; waiting for it to come back\n")
            } catch {
                guard follows, isAgain, error.code == .notReachable || error.code == .failed else {
                    throw error
                }
            }
            _ = poll(nil, 0, 500)
        }
    }

    /// Prints what comes over one connection; false when nobody reads any more, or all that is remembered came.
    private func read(_ answer: StreamedAnswer, _ last: inout String?) throws(CommandFailure) -> Bool {
        var lines = LineBuffer()
        while true {
            let complete: [[UInt8]]
            do throws(RelayClientError) {
                guard let piece = try answer.next(within: follows ? EventPrinter.silence : EventPrinter.pause)
                else { return true }
                complete = try lines.take(piece)
            } catch {
                if error.code == .timedOut, !follows { return false }
                if error.code == .timedOut || error.code == .connectionLost { return true }
                throw daemon.failure(error)
            }
            for line in complete {
                guard let read = try? JSONValue(parsing: line) else {
                    throw CommandFailure(.failed, "an event of the daemon is no valid JSON")
                }
                let (line, event) = UpstreamTexts.told(line, read)
                if let id = event["id"]?.text { last = id }
                guard event["type"]?.text != EventKind.heartbeat.type else { continue }
                let text = style.format == .json || style.format == .ndjson ? line + [0x0A] : text(of: event)
                guard Output.standard.reaches(text) else { return false }
            }
        }
    }

    private func text(of event: JSONValue) -> [UInt8] {
        if style.format == .name {
            return event["data"]?["job"]?.text.map { Array((safe($0) + "\n").utf8) } ?? []
        }
        return Array(eventLine(event, Moments(isUTC: isUTC)).utf8)
    }
}

/// The jobs that a run has changed, of an event that tells its end.
private func changes(_ run: JSONValue?) -> String? {
    guard let changed = run?["changed"]?.integer, let matched = run?["matched"]?.integer else { return nil }
    return "\(changed) of \(matched) jobs changed"
}

/// One event for people.
func eventLine(_ event: JSONValue, _ moments: Moments) -> String {
    let data = event["data"]
    func word(_ name: String, _ title: String = "") -> String? { data?[name]?.text.map { title + safe($0) } }
    func number(_ name: String, _ title: String = "") -> String? {
        data?[name]?.integer.map { "\(title)\($0)" }
    }
    var type = safe(event["type"]?.text ?? "?")
    if type.hasPrefix("waystation.") { type.removeFirst("waystation.".count) }
    var words: [String?] = [word("route"), word("job"), number("attempt", "attempt "), number("status")]
    words.append(word("code"))
    if let run = number("run", "run ") { words += [run, word("action"), word("state"), changes(data)] }
    words += [word("kind"), word("end", "ended as "), word("rule", "rule ")]
    if let wait = data?["wait_ms"]?.double {
        words.append("next in \(DurationText.short(milliseconds: wait))")
    }
    if event["type"]?.text == "waystation.gap" {
        let unknown =
            "the daemon was started anew: what happened between its last event and its stop is not told"
        words.append(number("lost", "events that are gone: ") ?? unknown)
    }
    words += [word("detail"), principalText(data?["by"]).map { "by \($0)" }]
    let padding = String(repeating: " ", count: max(1, 20 - type.count))
    return "\(moments.precise(event["time"]?.text))  \(type)\(padding)"
        + words.compactMap { $0 }.joined(separator: "  ") + "\n"
}
