import RelayBase
import RelayJSON

/// The daemon's status for people.
struct StatusText {
    private let status: JSONValue
    private let troubles: JSONValue
    private let columns: Int
    private let moments: Moments

    /// From how many columns on every figure is shown.
    private static let wide = 150
    /// Troubles that are shown.
    private static let most = 20

    init(
        _ status: JSONValue,
        troubles: JSONValue = .null,
        columns: Int = 80,
        moments: Moments = Moments(isUTC: true)
    ) {
        self.status = status
        self.troubles = troubles
        self.columns = columns
        self.moments = moments
    }

    private var isWide: Bool { columns >= StatusText.wide }

    func text(for output: Output) -> String {
        var text = heading(output)
        let told = troubles["troubles"]?.elements ?? []
        for trouble in told.prefix(StatusText.most) { text += "\n" + lines(of: trouble, output) }
        let more = (troubles["trouble_count"]?.integer ?? 0) - Int64(min(told.count, StatusText.most))
        if more > 0 { text += "\n" + filled("and \(more) more, which waystation ui shows", indent: 0) }
        let routes = status["routes"]?.elements ?? []
        text += "\n" + table(of: routes).text { output.styled($0, .bold) }
        text += reporting(routes)
        let credentials = status["credentials"]?.elements ?? []
        if !credentials.isEmpty {
            text += "\n" + table(ofCredentials: credentials).text { output.styled($0, .bold) }
        }
        return text
    }

    private func heading(_ output: Output) -> String {
        let state = safe(status["state"]?.text ?? "unknown").replacingUnderscores
        var parts = [
            "waystationd \(string("version"))", state, "up \(uptime)", "pid \(count(status, "pid"))",
            "in flight \(count(status, "in_flight"))", "connections \(count(status, "connections"))",
        ]
        if let config = status["config"] {
            let digest = String((config["digest"]?.text ?? "").prefix(12))
            let loaded = config["loaded_at"]?.text.map { moments.short($0) } ?? "?"
            parts.append("config \(safe(config["file"]?.text ?? "?")) (\(safe(digest)), loaded \(loaded))")
        }
        if let database = status["database"] {
            parts.append("node \(safe(database["node"]?.text ?? "?"))")
            if let snapshot = database["oldest_snapshot"] {
                let session = "\(count(snapshot, "pid")) (\(safe(snapshot["application"]?.text ?? "?")))"
                parts.append(
                    "the database's session \(session) keeps a snapshot for \(count(snapshot, "seconds")) s"
                )
            }
        }
        let style: Output.Style = state == "serving" ? .green : .yellow
        return lines(parts).map { line in
            line.map { $0 == state ? output.styled($0, style) : $0 }.joined(separator: " · ") + "\n"
        }.joined()
    }

    /// The parts of the heading in lines that fit.
    private func lines(_ parts: [String]) -> [[String]] {
        var lines: [[String]] = []
        var width = 0
        for part in parts {
            if !lines.isEmpty, width + 3 + part.count <= columns {
                lines[lines.count - 1].append(part)
                width += 3 + part.count
            } else {
                lines.append([part])
                width = part.count
            }
        }
        return lines
    }

    /// The cause of a trouble and since when it is there, the measures of the relay, and the advice.
    private func lines(of trouble: JSONValue, _ output: Output) -> String {
        let state = safe(trouble["state"]?.text ?? "?")
        let since = trouble["since"]?.text.map { " since \(moments.short($0))" } ?? ""
        let heading = filled("\(state)\(since): \(safe(trouble["cause"]?.text ?? "?"))", indent: 0)
        let style: Output.Style = state == "failing" ? .red : .yellow
        var remedy = safe(trouble["remedy"]?.text ?? "")
        if let action = trouble["action"], let word = action["word"]?.text,
            let command = action["command"]?.text,
            !remedy.contains(text: command)
        {
            remedy += " \(safe(word)): \(safe(command))"
        }
        let details = [
            routes(of: trouble), lastFailure(of: trouble), "Relay: \(safe(trouble["relay"]?.text ?? ""))",
            "Do: \(remedy)",
        ]
        return output.styled(state, style) + heading.dropFirst(state.count)
            + details.compactMap { $0.map { filled($0, indent: 2) } }.joined()
    }

    /// The routes that a trouble concerns, and how much it costs them; nil of one that concerns none.
    private func routes(of trouble: JSONValue) -> String? {
        let names = (trouble["routes"]?.elements ?? []).compactMap { $0.text.map { safe($0) } }
        guard let all = trouble["route_count"]?.integer, all > 0 else { return nil }
        let more = all > 5 ? " and \(all - 5) more" : ""
        var parts = [
            (all == 1 ? "Route " : "\(all) routes: ") + names.prefix(5).joined(separator: ", ") + more
        ]
        if let failures = trouble["failures_per_minute"]?.integer, failures > 0 {
            parts.append("\(failures) request\(failures == 1 ? " fails" : "s fail") a minute")
        }
        if let waiting = trouble["waiting"]?.integer, waiting > 0 {
            let oldest =
                trouble["oldest_at"]?.text.map { ", the oldest for \(moments.ageOfOldest($0))" } ?? ""
            parts.append("\(waiting) job\(waiting == 1 ? " waits" : "s wait")\(oldest)")
        }
        parts += ending(of: trouble)
        if let next = trouble["next_at"]?.text { parts.append("next \(moments.coming(next))") }
        return parts.joined(separator: "; ")
    }

    /// How many of its jobs are over soon without success.
    private func ending(of trouble: JSONValue) -> [String] {
        let (expiring, dying) = (trouble["expiring"]?.integer ?? 0, trouble["dying"]?.integer ?? 0)
        guard expiring + dying > 0 else { return [] }
        let told = [(expiring, "expire"), (dying, "die")].filter { $0.0 > 0 }
            .map { "\($0) job\($0 == 1 ? " \($1)s" : "s \($1)")" }.joined(separator: " and ")
        let first = trouble["ends_at"]?.text.map { ", the first \(moments.coming($0))" } ?? ""
        return ["\(told) within the hour\(first)"]
    }

    private func lastFailure(of trouble: JSONValue) -> String? {
        guard let failure = trouble["last_failure"], let kind = failure["kind"]?.text else { return nil }
        let age = failure["at"]?.text.map { ", \(moments.age($0)) ago" } ?? ""
        return "The latest failure\(age): \(safe(failure["detail"]?.text ?? "?")) (\(safe(kind)))"
    }

    private func table(of routes: [JSONValue]) -> TextTable {
        // A daemon without a store has no jobs to tell of.
        let hasJobs = routes.contains { $0["queued"] != nil }
        let all: [(title: String, isMain: Bool, name: String)] = [
            ("IN FLIGHT", false, "in_flight"), ("PENDING", false, "pending"), ("REQUESTS", true, "requests"),
            ("OK", true, ""), ("RECOVERED", false, "recovered"), ("STAND-IN", true, "fallbacks"),
            ("FAILED", true, "failed"), ("CANCELLED", false, "cancelled"),
        ]
        var shown = all.filter { isWide || $0.isMain }
        if hasJobs { shown += [("QUEUED", true, "queued"), ("DEAD", true, "dead")] }
        let figures: [(title: String, alignment: TextTable.Alignment)] = shown.map { ($0.title, .right) }
        var table = TextTable(
            [("ROUTE", .left), ("STATE", .left)] + figures + (isWide ? [("LAST FAILURE", .left)] : [])
        )
        let rows = routes.map { route in
            [safe(route["state"]?.text ?? "?").replacingUnderscores]
                + shown.map { $0.name.isEmpty ? share(route) : count(route, $0.name) }
                + (isWide ? [lastFailure(route)] : [])
        }
        let titles = ["STATE"] + shown.map(\.title) + (isWide ? ["LAST FAILURE"] : [])
        let widths = titles.indices.map { column in
            max(titles[column].count, rows.map { $0[column].count }.max() ?? 0)
        }
        // The room that the other columns leave of a line.
        let room = max(8, columns - widths.map { $0 + 2 }.reduce(0, +))
        for (route, cells) in zip(routes, rows) {
            let name = safe(route["name"]?.text ?? "?")
            table.add([name.count <= room ? name : String(name.prefix(room - 1)) + "…"] + cells)
        }
        return table
    }

    /// The routes of which something only tells what it would do.
    private func reporting(_ routes: [JSONValue]) -> String {
        let told = routes.compactMap { route -> String? in
            let parts = (route["reports_only"]?.elements ?? []).compactMap(\.text)
            guard !parts.isEmpty else { return nil }
            let names = parts.map(safe).joined(separator: ", ")
            return "Route \(safe(route["name"]?.text ?? "?")) reports only: \(names)"
        }
        guard !told.isEmpty else { return "" }
        let more = told.count - StatusText.most
        let lines = told.prefix(StatusText.most) + (more > 0 ? ["and \(more) more routes"] : [])
        return "\n" + lines.map { filled($0, indent: 0) }.joined()
    }

    private func table(ofCredentials credentials: [JSONValue]) -> TextTable {
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
        let status = failure["status"]?.integer.map { " \($0)" } ?? ""
        return safe(kind) + status + (failure["at"]?.text.map { ", \(moments.age($0)) ago" } ?? "")
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

    private func filled(_ text: String, indent: Int) -> String {
        TextFill.lines(text, columns: columns, indent: indent, hanging: indent + 2)
    }

    private func count(_ object: JSONValue, _ name: String) -> String {
        object[name]?.integer.map { String($0) } ?? "–"
    }

    private func string(_ name: String) -> String { safe(status[name]?.text ?? "?") }
}
