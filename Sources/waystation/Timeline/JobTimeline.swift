import RelayBase
import RelayJSON
import RelayJobs

/// The course of one job, for people: a line for each attempt and one for what was decided after it.
struct JobTimeline {
    private let job: JSONValue

    /// - Parameter job: the API's job object.
    init(_ job: JSONValue) { self.job = job }

    func text(for output: Output) -> String {
        let request = job["request"] ?? job
        var title = ["Job \(string(job, "id"))", string(job, "route")]
        title.append("\(string(request, "method")) \(string(request, "path"))")
        if let unit = job["client"]?["unit"]?.text { title.append("from \(safe(unit))") }
        return output.styled(title.joined(separator: " · "), .bold) + "\n" + body(for: output) + cost
    }

    /// Why it took the relay several times the processor time of a request that is passed through.
    private var cost: String {
        guard let reason = job["ordinary_path"]?["detail"]?.text else { return "" }
        return column("") + "took the ordinary path, which costs the relay more: \(safe(reason))\n"
    }

    /// The attempts and the outcome, without the title.
    func body(for output: Output) -> String {
        let attempts = job["attempts"]?.elements ?? []
        let once = (job["request"] ?? job)["sent_once_because"]?.text.map { reason in
            column("") + "the body is not kept: it is sent once (\(safe(reason)))\n"
        }
        let wait = job["permit_wait_ms"]?.integer.flatMap { PermitWait.words(.milliseconds($0)) }
        return (once ?? "") + (wait.map { column("") + $0 + "\n" } ?? "")
            + attempts.map { attempt in
                AttemptLines(attempt).text(
                    at: clock(attempt["started_after_ms"]?.double ?? 0),
                    width: 10,
                    output
                )
            }.joined() + rules(attempts) + outcome(after: attempts, output)
    }

    /// That nothing was done about the last failure, where nothing was.
    private func rules(_ attempts: [JSONValue]) -> String {
        guard let last = attempts.last, JobDocument.metNoRule(last) else { return "" }
        return column("") + "no rule of the route acts on this failure\n"
    }

    private func outcome(after attempts: [JSONValue], _ output: Output) -> String {
        let status = job["status"]?.integer.map { String($0) } ?? "no answer"
        let end =
            attempts.last.map { ($0["started_after_ms"]?.double ?? 0) + ($0["duration_ms"]?.double ?? 0) }
            ?? 0
        let line: String
        switch job["outcome"]?.text {
        case "success": line = output.styled("answered \(status)", .green)
        case "fallback", "placeholder", "stale":
            line = output.styled("answered \(status) with the \(string(job, "outcome"))", .yellow) + further
        default:
            let failure = job["last_failure"]
            let detail = failure?["detail"]?.text.map { ": \(safe($0))" } ?? ""
            line = output.styled("failed", .red) + detail + doubt(failure?["sent"]?.text)
        }
        return column(clock(end)) + line + "\n"
    }

    /// Whether it goes on as a kept job.
    private var further: String {
        guard let kept = job["kept"] else { return "" }
        return kept["job"] == job["id"]
            ? "; the request goes on as a kept job"
            : "; the request goes on as the kept job \(string(kept, "job"))"
    }

    /// Whether the upstream may have done what was asked, where doing it twice would matter.
    private func doubt(_ sent: String?) -> String {
        let method = (job["request"] ?? job)["method"]?.text.map(Method.init(rawValue:))
        switch sent {
        case "unknown": return " (outcome unknown: it may have been carried out)"
        case "answered" where method?.isIdempotent == false:
            return " (an answer that does not say it was refused: it may have been carried out)"
        default: return ""
        }
    }

    private func clock(_ milliseconds: Double) -> String {
        DurationText.decimals(min(max(0, milliseconds), 1e12) / 1000, 3) + "s"
    }

    private func column(_ text: String) -> String {
        String(repeating: " ", count: max(0, 10 - text.count)) + text + "  "
    }

    private func string(_ object: JSONValue, _ name: String) -> String { safe(object[name]?.text ?? "?") }
}
