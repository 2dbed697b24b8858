import RelayBase
import RelayInterface
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
        let whole = job.job
        var rows: [(String, String?)] = [
            ("Id", job.id), ("Route", job.route), ("State", job.stateAndReason),
            ("Request", job.request + (whole.request.size.map { ", \(ByteText.short($0))" } ?? "")),
            ("Answer", whole.status.map { "\($0.rawValue) from \(safe(whole.source ?? "?"))" }),
            ("Attempts", job.attempts), ("Last failure", job.failure),
            ("Created", moment(whole.createdAt, isPast: true)), ("Due", moment(whole.dueAt, isPast: false)),
            ("Expires", job.isOver ? nil : moment(whole.expiresAt, isPast: false)),
            ("Finished", moment(whole.finishedAt, isPast: true)),
            ("Waits for", whole.blocker.map { safe($0.detail) }), ("From", client),
            ("Labels", job.labels.isEmpty ? nil : job.labels), ("Ordering key", whole.orderingKey.map(safe)),
            ("Supersede key", whole.supersedeKey.map(safe)),
            ("Priority", whole.priority.map { String($0) }),
            ("Version", whole.version > 0 ? String(whole.version) : nil),
        ]
        if whole.isCancelAsked {
            rows.append(("Cancel", "asked for; it ends with its attempt"))
        }
        return TextTable.sheet(rows, width: 15) + "\nAttempt by attempt: \(explain)\n"
    }

    private var client: String? {
        job.job.client.map { client in
            [client.unit.map(safe), principalText(client.uid, nil, client.node)].compactMap { $0 }
                .joined(separator: ", ")
        }
    }

    private func moment(_ moment: WallTime?, isPast: Bool) -> String? {
        guard let milliseconds = moment?.milliseconds else { return nil }
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
