import RelayBase
import RelayJSON

/// The daemon's status for people.
struct StatusText {
    private let status: JSONValue
    private let columns: Int
    private let moments: Moments

    /// From how many columns on every figure is shown.
    private static let wide = 150

    init(_ status: JSONValue, columns: Int = 80, moments: Moments = Moments(isUTC: true)) {
        self.status = status
        self.columns = columns
        self.moments = moments
    }

    private var isWide: Bool { columns >= StatusText.wide }

    func text(for output: Output) -> String {
        var text = heading(output)
        var troubles: [String] = []
        if let detail = status["config"]?["last_reload_error"]?.text {
            troubles.append("The last reload was refused: \(safe(detail))")
        }
        if let level = status["shedding"]?["level"]?.integer, level > 0 {
            let reason = status["shedding"]?["reason"]?.text.map { " (\(safe($0)))" } ?? ""
            troubles.append("Memory is short\(reason): new work is refused, the least urgent first.")
        }
        if status["constrained"] == .bool(true) { troubles.append("The network counts as constrained.") }
        if status["callers_known"] == .bool(false) {
            troubles.append(
                "Callers' users are not known: set PrivateUsers=no in the daemon's unit, or allow_users, keys and"
                    + " the sight of jobs tell nobody apart."
            )
        }
        if let storage = status["storage"] { troubles += trouble(of: storage) }
        if let journal = status["journal"] { troubles += trouble(ofJournal: journal) }
        for trouble in troubles { text += filled(trouble, indent: 2) }
        let routes = status["routes"]?.elements ?? []
        text += "\n" + table(of: routes).text { output.styled($0, .bold) }
        let notes = routes.flatMap { StatusNotes($0, moments).lines }
        if !notes.isEmpty { text += "\n" + notes.map { filled($0, indent: 0) }.joined() }
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

    private func trouble(of storage: JSONValue) -> [String] {
        var troubles: [String] = []
        if storage["state"] == .string("full") {
            troubles.append(
                "The job store has no room, at \(count(storage, "used_bytes")) of \(count(storage, "max_bytes"))"
                    + " bytes: no job is accepted; free space on its disk, or raise storage.max_size."
            )
        }
        if storage["state"] == .string("ok"), let shortage = shortage(of: storage) {
            troubles.append("\(shortage): without room no job is accepted.")
        }
        if storage["state"] == .string("stalled") {
            troubles.append("The disk of the job store takes no writes: no job is accepted until it does.")
        }
        if storage["state"] == .string("gone") {
            troubles.append(
                "A file of the job store was removed or replaced while the daemon has it open: no job is accepted or "
                    + "delivered; put it back, or stop the daemon, restore a backup and start it."
            )
        }
        if let corrupt = storage["corrupt_records"]?.integer, corrupt > 0 {
            troubles.append("Damaged records met in the job store since the start: \(corrupt).")
        }
        return troubles
    }

    /// The room of the store that comes to its end; nil where none does.
    private func shortage(of storage: JSONValue) -> String? {
        guard let limit = storage["max_bytes"]?.integer else { return nil }
        if let used = storage["used_bytes"]?.integer, used > limit / 5 * 4 {
            return "The job store is nearly full, at \(used) of \(limit) bytes"
        }
        guard let size = storage["disk_bytes"]?.integer, let left = storage["disk_available_bytes"]?.integer,
            left < min(size / 10, limit)
        else { return nil }
        return "The disk of the job store is nearly full, with \(left) of \(size) bytes left"
    }

    private func trouble(ofJournal journal: JSONValue) -> [String] {
        let seconds = journal["blocked_seconds"]?.integer ?? 0
        if seconds > 2 {
            return [
                "The journal has not taken a record for \(seconds)s: look at systemd-journald, or at what reads the"
                    + " daemon's standard error; requests go on."
            ]
        }
        guard let lost = journal["lost_records"]?.integer, lost > 0 else { return [] }
        return ["Records the journal did not take since the start: \(lost)."]
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

/// The facts that an operator should know of a route beside its figures.
struct StatusNotes {
    private let route: JSONValue
    private let moments: Moments

    init(_ route: JSONValue, _ moments: Moments) {
        self.route = route
        self.moments = moments
    }

    /// Each a sentence that begins with the route's name.
    var lines: [String] {
        let name = safe(route["name"]?.text ?? "?")
        var notes: [String] = []
        if let reason = route["pause_reason"]?.text {
            let who = principalText(route["paused_by"]).map { " by \($0)" } ?? ""
            notes.append("paused\(who): \(safe(reason))")
        }
        if ["failing", "degraded"].contains(route["state"]?.text) { notes.append(condition) }
        if let breaches = route["never_fails_breaches"]?.integer, breaches > 0 {
            notes.append("never_fails breached \(breaches)x")
        }
        if let dead = route["dead"]?.integer, dead > 0 {
            notes.append(
                "\(dead) dead \(dead == 1 ? "job" : "jobs"), given up until somebody retries or drops"
                    + " \(dead == 1 ? "it" : "them"): waystation dead --route \(name)"
            )
        }
        return notes.map { "\(name): \($0)" }
    }

    /// The counts and the failure behind the state; the column OK counts something else.
    private var condition: String {
        let lately = route["lately"]
        func count(_ name: String) -> Int64 { lately?[name]?.integer ?? 0 }
        let (all, failed, standIns) = (count("requests"), count("failed"), count("stand_ins"))
        var parts: [String] = []
        if failed > 0 { parts.append(all == 1 ? "failed" : "\(failed) failed") }
        if standIns > 0 {
            let was = (standIns == 1 ? "was" : "were") + " answered by a stand-in"
            parts.append(all == 1 ? was : "\(standIns) \(was)")
        }
        let requests = all == 1 ? "the latest request" : "of the latest \(all) requests"
        let what =
            parts.isEmpty
            ? "a circuit breaker is open"
            : "\(requests) \(parts.joined(separator: " and "))"
        guard let failure = route["last_failure"], let kind = failure["kind"]?.text else { return what }
        let age = failure["at"]?.text.map { ", \(moments.age($0)) ago" } ?? ""
        return "\(what); the latest failure\(age): \(safe(failure["detail"]?.text ?? "?")) (\(safe(kind)))"
    }
}
