import RelayBase
import RelayJSON

/// Everything about one job, a line each.
struct JobSheet {
    private let job: JobDocument
    private let moments: Moments
    private let explain: String

    /// `explain` is the command that tells the attempts.
    init(_ json: JSONValue, _ moments: Moments, explain: String) {
        job = JobDocument(json)
        self.moments = moments
        self.explain = explain
    }

    var text: String {
        let json = job.json
        var rows: [(String, String?)] = [
            ("Id", job.id), ("Route", job.route), ("State", job.stateAndReason),
            ("Request", job.request + size(json["request"]?["size"])),
            ("Answer", json["status"]?.integer.map { "\($0) from \(job.string("source") ?? "?")" }),
            ("Attempts", job.attempts), ("Last failure", job.failure),
            ("Created", moment("created_at", isPast: true)), ("Due", moment("due_at", isPast: false)),
            ("Expires", job.isOver ? nil : moment("expires_at", isPast: false)),
            ("Finished", moment("finished_at", isPast: true)),
            ("Waits for", json["blocker"]?["detail"]?.text.map(safe)), ("From", client),
            ("Labels", job.labels.isEmpty ? nil : job.labels), ("Ordering key", job.string("ordering_key")),
            ("Supersede key", job.string("supersede_key")),
            ("Priority", json["priority"]?.integer.map { String($0) }),
            ("Version", json["version"]?.integer.map { String($0) }),
        ]
        if json["cancel_asked"] == .bool(true) {
            rows.append(("Cancel", "asked for; it ends with its attempt"))
        }
        return rows.map { title, value in
            guard let value else { return "" }
            return title + String(repeating: " ", count: max(1, 15 - title.count)) + value + "\n"
        }.joined() + "\nAttempt by attempt: \(explain)\n"
    }

    private func size(_ json: JSONValue?) -> String { json?.integer.map { ", \(ByteText.short($0))" } ?? "" }

    private var client: String? {
        guard let client = job.json["client"] else { return nil }
        let user = client["uid"]?.integer.map { "uid \($0)" }
        return [client["unit"]?.text.map(safe), user].compactMap { $0 }.joined(separator: ", ")
    }

    private func moment(_ name: String, isPast: Bool) -> String? {
        guard let text = job.json[name]?.text, let milliseconds = UTCTime.milliseconds(parsing: text) else {
            return nil
        }
        let span = Moments.span(abs(milliseconds - moments.now))
        let distance = milliseconds <= moments.now ? "\(span) ago" : "in \(span)"
        return "\(moments.precise(milliseconds)) (\(isPast || milliseconds > moments.now ? distance : "now"))"
    }
}

/// Sizes for people.
enum ByteText {
    /// `512 B`, `1.5 KiB`, `12 MiB`.
    static func short(_ bytes: Int64) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(max(0, bytes))
        var unit = 0
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(DurationText.decimals(value, unit == 0 || value >= 10 ? 0 : 1)) \(units[unit])"
    }
}
