import RelayBase
import RelayInterface

/// One attempt for people: what came of it, and what was decided after it.
struct AttemptLines {
    private let attempt: Job.Attempt
    /// The same attempt with the longest wait behind it, of one that is only imagined.
    private let longest: Job.Attempt?

    init(_ attempt: Job.Attempt, longest: Job.Attempt? = nil) {
        self.attempt = attempt
        self.longest = longest
    }

    /// The lines, the first of them with `time` to the right of a column of that width.
    func text(at time: String, width: Int, _ output: Output) -> String {
        var what = attempt.status.map { String($0.rawValue) } ?? ""
        if let kind = attempt.kind, kind != "http_status" || what.isEmpty {
            what += (what.isEmpty ? "" : " ") + safe(kind)
        }
        if what.isEmpty { what = attempt.result.isEmpty ? "?" : safe(attempt.result) }
        if let word = attempt.lookUp { what += " " + safe(word) }
        let took = attempt.time.map { " in \(AttemptLines.short($0))" } ?? ""
        let place = [attempt.upstream, attempt.address].compactMap { $0 }.map(safe)
        var text =
            column(time, width)
            + pad("\(attempt.lookUp == nil ? "attempt" : "look-up") \(attempt.number)", 11)
        text += pad("→ " + place.joined(separator: " "), 30) + " "
        text += output.styled(what, attempt.kind != nil ? .yellow : .green) + "\(took)\(phases)\n"
        if let node = attempt.node { text += column("", width) + "by \(safe(node))\n" }
        if let cause = attempt.cause.flatMap(FailureCause.init(rawValue:)), let words = cause.text {
            text += column("", width) + words + "\n"
        }
        if let words = upstreamErrorText { text += column("", width) + words + "\n" }
        if attempt.isResent {
            text += column("", width) + "sent once more: the upstream had closed the kept connection\n"
        }
        if attempt.result == Job.Attempt.Result.interrupted.rawValue {
            text += column("", width) + "the relay crashed: whether it was sent is not known\n"
        }
        for held in attempt.heldBack {
            // One that has acted has not done all that it says.
            let verb = held.rule == attempt.rule ? "" : " did not act"
            var words = "rule \"\(safe(held.rule))\"\(verb): "
            if held.reason.hasPrefix("would have ") { words = "\(safe(held.rule)) " }
            // Of a route, and no rule of it.
            if ["follow", "hedge", "verify"].contains(held.rule), verb != "" { words = "\(held.rule): " }
            text += column("", width) + words + safe(held.reason) + "\n"
        }
        if let decision { text += column("", width) + decision + "\n" }
        return text
    }

    /// Where the attempt's time went, as far as it is worth a word.
    private var phases: String {
        guard attempt.duration >= .milliseconds(50), let timing = attempt.timing else { return "" }
        let parts = [
            ("dns", timing.nameLookup), ("connect", timing.connect),
            ("first byte", timing.firstByte ?? .zero),
        ].filter { $0.1 >= .milliseconds(1) }.map { "\($0) \(AttemptLines.short($1))" }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    static func short(_ duration: Duration) -> String {
        DurationText.short(milliseconds: Double(duration.saturatedNanoseconds / 1000) / 1000)
    }

    /// The upstream's own words on its error, where the route's `api_error` names the place.
    private var upstreamErrorText: String? {
        let code = attempt.apiCode.map { " \(safe($0))" } ?? ""
        let title = attempt.apiTitle.map { ": \"\(safe($0))\"" } ?? ""
        return code.isEmpty && title.isEmpty ? nil : "the upstream says\(code)\(title)"
    }

    private var decision: String? {
        let action: String
        switch attempt.next {
        case "retry":
            let wait = attempt.wait ?? .zero
            if let most = longest?.wait, most > wait {
                action = "retry in \(AttemptLines.short(wait)) to \(AttemptLines.short(most))"
            } else {
                action = wait > .zero ? "retry in \(AttemptLines.short(wait))" : "retry at once"
            }
        case "refresh_credentials": action = "refresh the credential and try again"
        case "failover": action = "fail over to \(safe(attempt.nextUpstream ?? "another upstream"))"
        case "respond": action = "answer with the \(standIn)"
        case "respond_and_keep": action = "answered with the \(standIn); the request goes on as a kept job"
        case "quick_recovery": action = "take it as a success"
        case "verify":
            action = "ask the upstream in \(AttemptLines.short(attempt.wait ?? .zero)) what became of it"
        case "follow":
            let what = attempt.operation.map { safe($0) } ?? "it"
            action = "look at \(what) in \(AttemptLines.short(attempt.wait ?? .zero))"
        case "hedge": action = "go on with the other sending (hedge)"
        case "fail": action = "fail"
        case let other?: action = safe(other).replacingUnderscores
        case nil: return nil
        }
        return (attempt.rule.map { "rule \"\(safe($0))\": " } ?? "") + action
    }

    private var standIn: String { safe(attempt.nextSource ?? "fallback") }

    private func column(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text + "  "
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension FailureCause {
    /// A line of its own where the fault is not where one looks first.
    fileprivate var text: String? {
        switch self {
        case .upstream, .request: nil
        case .tooMany: "the upstream had too much to do: nobody's fault"
        case .caller: "the caller's doing: it counts for nothing"
        case .relay: "the relay's doing: it counts for nothing against the upstream"
        }
    }
}
