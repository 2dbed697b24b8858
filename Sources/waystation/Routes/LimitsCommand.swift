import RelayBase
import RelayClient
import RelayJSON

extension Command {
    static let limits = Command(
        "limits",
        "ROUTE [--clear [--upstream NAME] [--class REQUESTS]] [-o table|json]",
        "Shows what holds the requests of a route back, with present values, and lifts it.",
        details: """
            Its permits, the breaker, the last failure, the window, the throttling and the patience of each upstream,
            its retries, its rate and its pause, and why none of its requests is passed through, where none is.
            With --clear what upstreams have asked for, the rates and windows that were learnt and what is known of
            requests that fail is forgotten first, of one upstream or of one class of requests, such as "GET /reports"
            (as this table names it), where they are named. Pauses and breakers stay: resume and breaker are for them.

            """,
        operands: [.asked([.routes])],
        options: [
            OptionSpec("clear", nil, "lift it first"),
            OptionSpec("upstream", value: "NAME", "of that upstream only"),
            OptionSpec("class", value: "REQUESTS", "of those requests only"), .output,
            OptionSpec("utc", nil, "print times in UTC"), .control,
        ]
    ) { arguments throws(CommandFailure) in
        let route = try routeOperand(arguments)
        let format = try arguments.format()
        let access = DaemonAccess.control(arguments)
        let target = "/v1/routes/\(percentEncoded(route))"
        let bytes: [UInt8]
        let document: JSONValue
        if arguments.has("clear") {
            let response = try access.change(.post, target + "/limits/clear", clearOrder(arguments))
            (bytes, document) = (response.body, try DaemonAccess.parse(response))
        } else {
            guard arguments["upstream"] == nil, arguments["class"] == nil else {
                throw .usage("--upstream and --class say what --clear lifts", of: arguments.command)
            }
            (bytes, document) = try access.document(.get, target)
        }
        return try Output.standard.show(bytes, as: format) {
            LimitsSheet(document, Moments(isUTC: arguments.has("utc"))).text
        }
    }
}

/// The upstream and the requests whose limits `--clear` is to lift; all where none is named.
private func clearOrder(_ arguments: Arguments) -> [UInt8] {
    var order = JSONObjectWriter()
    if let upstream = arguments["upstream"] { order.member("upstream", upstream) }
    if let requests = arguments["class"] { order.member("requests", requests) }
    return order.bytes
}

/// The limits that hold a route back, from its document, for people.
struct LimitsSheet {
    private let json: JSONValue
    private let moments: Moments

    init(_ json: JSONValue, _ moments: Moments) {
        self.json = json
        self.moments = moments
    }

    /// A line for each limit, with what it is about, how it stands, and how long.
    var text: String {
        let route = RouteDocument(json, moments)
        guard json["max_requests"] != nil else {
            return "\(route.name): the configuration has no such route, and its jobs wait\n"
        }
        var rows: [(String, String?)] = [
            ("Route", route.name + ((route.pause ?? route.closed).map { ", \($0)" } ?? "")),
            ("Permits", permits),
        ]
        for upstream in json["upstreams"]?.elements ?? [] {
            let name = safe(upstream["name"]?.text ?? "?")
            rows += [
                ("Upstream", "\(name): \(underWay(upstream))"), ("  Breaker", breaker(upstream)),
                ("  Failed", moments.failure(upstream["last_failure"])),
            ]
            rows += (upstream["failing"]?.elements ?? []).map { failing in
                let user = failing["uid"]?.integer.map { " of user \($0)" } ?? ""
                let counts = "\(number(failing["failed"])) of \(number(failing["attempts"])) failed"
                let requests = safe(failing["requests"]?.text ?? "?")
                return ("  Stopped", "\(requests)\(user): \(counts); others go on")
            }
            if let rate = upstream["rate"]?.integer {
                let attempts = "\(rate) attempt\(rate == 1 ? "" : "s")"
                let what = upstream["rate_of"]?.text.map { safe($0) + " " } ?? ""
                let text = "\(what)sent at most \(attempts) a second, as it said too many came"
                rows.append(("  Throttled", text))
            }
            rows += (upstream["holds"]?.elements ?? []).map { hold in
                let until = hold["until"]?.text.map { moments.short($0) } ?? "?"
                let requests = safe(hold["requests"]?.text ?? "?")
                return ("  Patience", "it has asked \(requests) to wait until \(until)")
            }
            let held = upstream["held_until"]?.text.map { moments.short($0) }
            rows.append(("  Patience", held.map { "it has asked requests to wait until \($0)" }))
        }
        rows += [
            ("Passing on", route.passing), ("Retries", retries), ("Rate", rate), ("Reports", route.reporting),
        ]
        return TextTable.sheet(rows, width: 13)
    }

    private func number(_ value: JSONValue?) -> String { value?.integer.map { String($0) } ?? "?" }

    private var permits: String {
        "\(number(json["in_flight"])) of \(number(json["max_requests"])) taken, "
            + "\(number(json["pending"])) of \(number(json["max_pending_requests"])) places to wait for one taken"
    }

    private func underWay(_ upstream: JSONValue) -> String {
        let window = upstream["window"]?.integer.map { " of a window of \($0)" } ?? ""
        return "\(number(upstream["under_way"]))\(window) under way"
    }

    /// Nil where it is off.
    private func breaker(_ upstream: JSONValue) -> String? {
        guard let word = upstream["breaker"]?.text, word != "off" else { return nil }
        var text = safe(word).replacingUnderscores
        if let since = upstream["since"]?.text { text += " since \(moments.short(since))" }
        if let until = upstream["until"]?.text {
            text += word == "open" ? probe(at: until) : " until \(moments.short(until))"
        }
        guard let counts = upstream["counts"] else { return text }
        let span = DurationText.text(.milliseconds(counts["span_ms"]?.integer ?? 0))
        let row = counts["failed_in_a_row"]?.integer.flatMap { $0 > 1 ? $0 : nil }
        guard counts["attempts"]?.integer != 0 else {
            return text + "; " + (row.map { "the last \($0) failed, " } ?? "") + "none in the last \(span)"
        }
        text += "; \(number(counts["failed"])) of \(number(counts["attempts"])) failed in the last \(span)"
        return text + (row.map { ", \($0) in a row" } ?? "")
    }

    /// One that is due comes with the next request.
    private func probe(at text: String) -> String {
        let isDue = UTCTime.milliseconds(parsing: text).map { $0 <= moments.now } ?? false
        return isDue ? ", probed by the next request" : ", probed at \(moments.short(text))"
    }

    private var retries: String {
        let underWay = "\(number(json["retries_under_way"])) under way"
        return json["retries_left"]?.integer.map { "\(underWay), \($0) more may begin" } ?? underWay
    }

    /// Nil without a limit.
    private var rate: String? {
        guard let left = json["turns_left"]?.integer else { return nil }
        let next = json["next_turn_at"]?.text.map { ", the next at \(moments.short($0))" } ?? ""
        return "\(left) attempt\(left == 1 ? "" : "s") may begin now\(next)"
    }
}
