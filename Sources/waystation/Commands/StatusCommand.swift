import RelayCore
import RelayJSON

extension Command {
    static let status = Command(
        "status",
        "[-o table|json]",
        "Shows the daemon, its routes and its credentials.",
        options: [.output, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        let format = try arguments.format()
        let (bytes, status) = try DaemonAccess.control(arguments).document(.get, "/v1/status")
        let output = Output.standard
        switch format {
        case .json:
            output.write(bytes)
            if bytes.last != UInt8(ascii: "\n") { output.write("\n") }
        case .table: output.write(StatusText(status).text(for: output))
        }
        return .done
    }
}

/// The daemon's status for people.
struct StatusText {
    private let status: JSONValue

    init(_ status: JSONValue) { self.status = status }

    func text(for output: Output) -> String {
        var text = heading(output) + "\n"
        if let detail = status["config"]?["last_reload_error"]?.text {
            text += "  The last reload was refused: \(safe(detail))\n"
        }
        if status["constrained"] == .bool(true) { text += "  The network counts as constrained.\n" }
        if status["callers_known"] == .bool(false) {
            text +=
                "  Callers' users are not known: set PrivateUsers=no in the daemon's unit, or allow_users, keys"
            text += " and the sight of jobs tell nobody apart.\n"
        }
        if let storage = status["storage"] { text += trouble(of: storage) }
        text += "\n" + routes().text { output.styled($0, .bold) }
        let credentials = status["credentials"]?.elements ?? []
        if !credentials.isEmpty {
            text += "\n" + table(of: credentials).text { output.styled($0, .bold) }
        }
        return text
    }

    private func heading(_ output: Output) -> String {
        let state = status["state"]?.text ?? "unknown"
        let style: Output.Style = state == "serving" ? .green : .yellow
        var parts = [
            "waystationd \(string("version"))",
            output.styled(safe(state).replacingUnderscores, style),
            "up \(uptime)",
            "pid \(count(status, "pid"))",
            "in flight \(count(status, "in_flight"))",
            "connections \(count(status, "connections"))",
        ]
        if let config = status["config"] {
            let digest = String((config["digest"]?.text ?? "").prefix(12))
            parts.append(
                "config \(safe(config["file"]?.text ?? "?")) (\(safe(digest)), loaded"
                    + " \(safe(config["loaded_at"]?.text ?? "?")))"
            )
        }
        return parts.joined(separator: " · ")
    }

    private func trouble(of storage: JSONValue) -> String {
        var text = ""
        if storage["state"] == .string("full") {
            text += "  The job store has no room, at \(count(storage, "used_bytes")) of "
            text += "\(count(storage, "max_bytes")) bytes: no job is accepted; free space on its disk,"
            text += " or raise storage.max_size.\n"
        }
        if let corrupt = storage["corrupt_records"]?.integer, corrupt > 0 {
            text += "  Damaged records met in the job store since the start: \(corrupt).\n"
        }
        return text
    }

    private func routes() -> TextTable {
        let routes = status["routes"]?.elements ?? []
        // A daemon without a store has no jobs to tell of.
        let hasJobs = routes.contains { $0["queued"] != nil }
        let titles: [(title: String, alignment: TextTable.Alignment)] = [
            ("ROUTE", .left), ("STATE", .left), ("IN FLIGHT", .right), ("PENDING", .right),
            ("REQUESTS", .right), ("OK", .right), ("RECOVERED", .right), ("STAND-IN", .right),
            ("FAILED", .right), ("CANCELLED", .right),
        ]
        let waiting: [(title: String, alignment: TextTable.Alignment)] =
            hasJobs ? [("QUEUED", .right), ("DEAD", .right)] : []
        var table = TextTable(titles + waiting + [("LAST FAILURE", .left), ("NOTE", .left)])
        for route in routes {
            let figures = [
                safe(route["name"]?.text ?? "?"), safe(route["state"]?.text ?? "?").replacingUnderscores,
                count(route, "in_flight"), count(route, "pending"), count(route, "requests"),
                share(route), count(route, "recovered"), count(route, "fallbacks"), count(route, "failed"),
                count(route, "cancelled"),
            ]
            let kept = hasJobs ? [count(route, "queued"), count(route, "dead")] : []
            table.add(figures + kept + [lastFailure(route), note(route)])
        }
        return table
    }

    private func table(of credentials: [JSONValue]) -> TextTable {
        var table = TextTable([("CREDENTIAL", .left), ("STATE", .left), ("EXPIRES IN", .left)])
        for credential in credentials {
            let left = credential["expires_in_seconds"]?.double
            table.add([
                safe(credential["name"]?.text ?? "?"),
                safe(credential["state"]?.text ?? "?").replacingUnderscores,
                left.map { DurationText.short(milliseconds: $0 * 1000) } ?? "–",
            ])
        }
        return table
    }

    private func lastFailure(_ route: JSONValue) -> String {
        guard let failure = route["last_failure"], let kind = failure["kind"]?.text else { return "–" }
        let at = failure["at"]?.text.map { " at \($0)" } ?? ""
        return safe("\(kind)\(at)")
    }

    private func note(_ route: JSONValue) -> String {
        let breaches = route["never_fails_breaches"]?.integer ?? 0
        let pause = route["pause_reason"]?.text.map { "paused: \(safe($0))" }
        let breached = breaches > 0 ? "never_fails breached \(breaches)x" : nil
        return [pause, breached].compactMap { $0 }.joined(separator: "; ")
    }

    private var uptime: String {
        let seconds = min(max(0, status["uptime_seconds"]?.double ?? 0), 1e10)
        return seconds < 60 ? "\(Int(seconds))s" : DurationText.short(milliseconds: seconds * 1000)
    }

    /// Requests the upstream answered with a success, in percent of those that ended and were not given up by
    /// their callers.
    private func share(_ route: JSONValue) -> String {
        let succeeded = route["succeeded"]?.double ?? 0
        let ended = succeeded + (route["failed"]?.double ?? 0) + (route["fallbacks"]?.double ?? 0)
        guard ended > 0 else { return "–" }
        return DurationText.decimals(100 * succeeded / ended, 1) + "%"
    }

    private func count(_ object: JSONValue, _ name: String) -> String {
        object[name]?.integer.map { String($0) } ?? "–"
    }

    private func string(_ name: String) -> String { safe(status[name]?.text ?? "?") }
}

extension String {
    /// `reload_failed` as people write it.
    var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
