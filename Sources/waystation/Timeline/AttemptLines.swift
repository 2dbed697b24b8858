import RelayBase
import RelayJSON

/// One attempt for people: what came of it, and what was decided after it.
struct AttemptLines {
    private let attempt: JSONValue

    /// - Parameter attempt: an element of the API's list.
    init(_ attempt: JSONValue) { self.attempt = attempt }

    /// The lines, the first of them with `time` to the right of a column of that width.
    func text(at time: String, width: Int, _ output: Output) -> String {
        let failed = attempt["kind"]?.text != nil
        var what = attempt["status"]?.integer.map { String($0) } ?? ""
        if let kind = attempt["kind"]?.text, kind != "http_status" || what.isEmpty {
            what += (what.isEmpty ? "" : " ") + safe(kind)
        }
        if what.isEmpty { what = string(attempt, "result") }
        let took = attempt["duration_ms"]?.double.map { " in \(DurationText.short(milliseconds: $0))" } ?? ""
        let place = [attempt["upstream"]?.text, attempt["address"]?.text].compactMap { $0 }.map(safe)
        var text = column(time, width) + pad("attempt \(attempt["number"]?.integer ?? 0)", 11)
        text += pad("→ " + place.joined(separator: " "), 30) + " "
        text += output.styled(what, failed ? .yellow : .green) + "\(took)\(phases)\n"
        if let cause = attempt["cause"]?.text.flatMap(FailureCause.init(rawValue:)), let words = cause.words {
            text += column("", width) + words + "\n"
        }
        if let words = upstreamsWords { text += column("", width) + words + "\n" }
        if case .bool(true)? = attempt["resent"] {
            text += column("", width) + "sent once more: the upstream had closed the kept connection\n"
        }
        if attempt["result"]?.text == "interrupted" {
            text += column("", width) + "the relay crashed: whether it was sent is not known\n"
        }
        for held in attempt["held_back"]?.elements ?? [] {
            // One that has acted has not done all that it says.
            let verb = held["rule"] == attempt["rule"] ? "" : " did not act"
            text +=
                column("", width) + "rule \"\(string(held, "rule"))\"\(verb): \(string(held, "reason"))\n"
        }
        if let decision = decision { text += column("", width) + decision + "\n" }
        return text
    }

    /// Where the attempt's time went, as far as it is worth a word.
    private var phases: String {
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

    /// The upstream's own words on its error, where the route's `api_error` names the place.
    private var upstreamsWords: String? {
        let code = attempt["api_code"]?.text.map { " \(safe($0))" } ?? ""
        let title = attempt["api_title"]?.text.map { ": \"\(safe($0))\"" } ?? ""
        return code.isEmpty && title.isEmpty ? nil : "the upstream says\(code)\(title)"
    }

    private var decision: String? {
        let action: String
        switch attempt["next"]?.text {
        case "retry":
            let wait = attempt["wait_ms"]?.double ?? 0
            action = wait > 0 ? "retry in \(DurationText.short(milliseconds: wait))" : "retry at once"
        case "refresh_credentials": action = "refresh the credential and try again"
        case "failover": action = "fail over to \(safe(attempt["next_upstream"]?.text ?? "another upstream"))"
        case "respond": action = "answer with the \(standIn)"
        case "respond_and_keep": action = "answered with the \(standIn); the request goes on as a kept job"
        case "quick_recovery": action = "take it as a success"
        case "fail": action = "fail"
        case let other?: action = safe(other).replacingUnderscores
        case nil: return nil
        }
        let rule = attempt["rule"]?.text.map { "rule \"\(safe($0))\": " } ?? ""
        return rule + action
    }

    private var standIn: String { safe(attempt["next_source"]?.text ?? "fallback") }

    private func column(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text + "  "
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func string(_ object: JSONValue, _ name: String) -> String { safe(object[name]?.text ?? "?") }
}

extension FailureCause {
    /// A line of its own where the fault is not where one looks first.
    fileprivate var words: String? {
        switch self {
        case .upstream, .request: nil
        case .tooMany: "the upstream had too much to do: nobody's fault"
        case .caller: "the caller's doing: it counts for nothing"
        case .relay: "the relay's doing: it counts for nothing against the upstream"
        }
    }
}
