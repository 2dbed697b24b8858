import RelayCore
import RelayJSON

/// What happened to one job, for people: a line for each attempt and one for what was decided after it.
struct JobTimeline {
    private let job: JSONValue

    /// - Parameter job: the API's job object.
    init(_ job: JSONValue) { self.job = job }

    func text(for output: Output) -> String {
        let request = job["request"] ?? job
        var title = ["Job \(string(job, "id"))", string(job, "route")]
        title.append("\(string(request, "method")) \(string(request, "path"))")
        if let unit = job["client"]?["unit"]?.text { title.append("from \(safe(unit))") }
        return output.styled(title.joined(separator: " · "), .bold) + "\n" + body(for: output)
    }

    /// The attempts and the outcome, without the title.
    func body(for output: Output) -> String {
        let attempts = job["attempts"]?.elements ?? []
        return attempts.map { lines(of: $0, output) }.joined() + outcome(after: attempts, output)
    }

    private func lines(of attempt: JSONValue, _ output: Output) -> String {
        let failed = attempt["kind"]?.text != nil
        var what = attempt["status"]?.integer.map { String($0) } ?? ""
        if let kind = attempt["kind"]?.text, kind != "http_status" || what.isEmpty {
            what += (what.isEmpty ? "" : " ") + safe(kind)
        }
        if what.isEmpty { what = string(attempt, "result") }
        let took = DurationText.short(milliseconds: attempt["duration_ms"]?.double ?? 0)
        let place = [attempt["upstream"]?.text, attempt["address"]?.text].compactMap { $0 }.map(safe)
        var text = column(time(attempt)) + pad("attempt \(attempt["number"]?.integer ?? 0)", 11)
        text += pad("→ " + place.joined(separator: " "), 30) + " "
        text += output.styled(what, failed ? .yellow : .green) + " in \(took)\(phases(attempt))\n"
        for held in attempt["held_back"]?.elements ?? [] {
            text += column("") + "rule \"\(string(held, "rule"))\" did not act: \(string(held, "reason"))\n"
        }
        if let decision = decision(after: attempt) { text += column("") + decision + "\n" }
        return text
    }

    /// Where the attempt's time went, as far as it is worth a word.
    private func phases(_ attempt: JSONValue) -> String {
        guard attempt["duration_ms"]?.double ?? 0 >= 50 else { return "" }
        let timing = attempt["timing_ms"]
        let parts = [("dns", "dns"), ("connect", "connect"), ("first_byte", "first byte")].compactMap {
            name,
            title in
            timing?[name]?.double.flatMap {
                $0 >= 1 ? "\(title) \(DurationText.short(milliseconds: $0))" : nil
            }
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private func decision(after attempt: JSONValue) -> String? {
        let action: String
        switch attempt["next"]?.text {
        case "retry":
            let wait = attempt["wait_ms"]?.double ?? 0
            action = wait > 0 ? "retry in \(DurationText.short(milliseconds: wait))" : "retry at once"
        case "refresh_credentials": action = "refresh the credential and try again"
        case "failover": action = "fail over to \(safe(attempt["next_upstream"]?.text ?? "another upstream"))"
        case "respond": action = "answer with the \(safe(attempt["next_source"]?.text ?? "fallback"))"
        case "quick_recovery": action = "take it as a success"
        case "fail": action = "fail"
        case let other?: action = safe(other).replacingUnderscores
        case nil: return nil
        }
        let rule = attempt["rule"]?.text.map { "rule \"\(safe($0))\": " } ?? ""
        return rule + action
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
            line = output.styled("answered \(status) with the \(string(job, "outcome"))", .yellow)
        default:
            let failure = job["last_failure"]
            let detail = failure?["detail"]?.text.map { ": \(safe($0))" } ?? ""
            let sent =
                failure?["sent"]?.text == "unknown"
                ? " (outcome unknown: it may have been carried out)" : ""
            line = output.styled("failed", .red) + detail + sent
        }
        return column(clock(end)) + line + "\n"
    }

    private func time(_ attempt: JSONValue) -> String { clock(attempt["started_after_ms"]?.double ?? 0) }

    private func clock(_ milliseconds: Double) -> String {
        DurationText.decimals(min(max(0, milliseconds), 1e12) / 1000, 3) + "s"
    }

    private func column(_ text: String) -> String {
        String(repeating: " ", count: max(0, 10 - text.count)) + text + "  "
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func string(_ object: JSONValue, _ name: String) -> String { safe(object[name]?.text ?? "?") }
}
