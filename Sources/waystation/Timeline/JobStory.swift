import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs

/// The story of a durable job, for people: what happened to it, why it waits and what can be done about it.
struct JobStory {
    /// Jobs of the route that wait with the same failure, this one included.
    struct Companions {
        var count: Int
        /// Whether there are more than were counted.
        var hasMore: Bool
        /// When the oldest of them was accepted.
        var since: String?
    }

    private let job: JobDocument
    private let moments: Moments
    private let companions: Companions?
    private let advice: Advice

    init(_ json: JSONValue, _ moments: Moments, companions: Companions? = nil, _ advice: Advice = Advice()) {
        job = JobDocument(json)
        self.moments = moments
        self.companions = companions
        self.advice = advice
    }

    func text(for output: Output) -> String {
        let attempts = job.json["attempts"]?.elements ?? []
        // One whose caller was answered first was kept only then.
        let before = attempts.firstIndex { $0["next"]?.text == "respond_and_keep" }.map { $0 + 1 } ?? 0
        var text = output.styled(title, .bold) + "\n"
        text += attempts[..<before].map { lines(of: $0, output) }.joined()
        text += line(job.json["created_at"]?.text, "accepted", accepted)
        let shown = Int64(attempts.count)
        if job.attemptCount > shown {
            text += column("") + "(earlier attempts not shown: \(job.attemptCount - shown))\n"
        }
        text += life(attempts[before...], output)
        if job.isOver, job.state != "succeeded", isInDoubt {
            text +=
                column("") + "it may have been carried out: ask the upstream first, a retry may do it twice\n"
        }
        text += now(output)
        text += actions.filter { ActionWords($0).isAfterTheEnd }.map(line).joined()
        if !job.isOver { text += why }
        let commands = commands
        if !commands.isEmpty { text += "Do: " + commands.joined(separator: "   ·   ") + "\n" }
        return text
    }

    /// The attempts, and what was done to the job before, between and after them.
    private func life(_ attempts: ArraySlice<JSONValue>, _ output: Output) -> String {
        var text = ""
        var actions = actions.filter { !ActionWords($0).isAfterTheEnd }[...]
        for attempt in attempts {
            let began = attempt["started_at"]?.text.flatMap(UTCTime.milliseconds(parsing:)) ?? .min
            while let action = actions.first,
                action["at"]?.text.flatMap(UTCTime.milliseconds(parsing:)) ?? .max <= began
            {
                text += line(actions.removeFirst())
            }
            text += lines(of: attempt, output)
        }
        return text + actions.map(line).joined()
    }

    private func lines(of attempt: JSONValue, _ output: Output) -> String {
        AttemptLines(attempt).text(at: moments.precise(attempt["started_at"]?.text), width: width, output)
    }

    private var actions: [JSONValue] { job.json["actions"]?.elements ?? [] }

    private func line(_ action: JSONValue) -> String {
        let words = ActionWords(action)
        return line(action["at"]?.text, words.what, words.who)
    }

    private var title: String {
        var parts = ["Job \(job.id)", job.route, job.request]
        if let size = job.json["request"]?["size"]?.integer { parts.append(ByteText.short(size)) }
        if let client = job.json["client"] {
            let user = client["uid"]?.integer.map { "uid \($0)" }
            let unit = client["unit"]?.text.map(safe)
            parts.append(
                "from " + (unit.map { unit in unit + (user.map { " (\($0))" } ?? "") } ?? user ?? "?")
            )
        }
        if !job.labels.isEmpty { parts.append("label \(job.labels)") }
        return parts.joined(separator: " · ")
    }

    private var accepted: String {
        var words = ["durable"]
        if job.json["keyed"] == .bool(true) { words.append("with an idempotency key") }
        if job.json["repeatable"] == .bool(false), !job.isOver {
            words.append("not repeatable (sent again only after it was refused or never sent)")
        }
        if let key = job.string("ordering_key") { words.append("in order of \"\(key)\"") }
        if let expires = job.json["expires_at"]?.text, !job.isOver {
            words.append("expires in \(span(until: expires))")
        }
        return words.joined(separator: ", ")
    }

    /// Where it stands: the end, or the next attempt.
    private func now(_ output: Output) -> String {
        guard !job.isOver else {
            // A failure says itself what the answer was.
            let answered =
                isDamaged ? nil : job.json["status"]?.integer.flatMap { job.failure == nil ? $0 : nil }
            let status = answered.map { ": answered \($0)" } ?? ""
            let standIn =
                job.json["source"]?.text.flatMap { $0 == "upstream" ? nil : " with the \(safe($0))" } ?? ""
            let rules = job.wasExhaustedByNoRule ? ", no rule acts on it" : ""
            let end = job.string("end").flatMap { $0 == job.state ? nil : " (\($0)\(rules))" } ?? ""
            let failure = isDamaged ? JobStory.damage : job.failure.map { ": \($0)" } ?? ""
            let style: Output.Style = job.state == "succeeded" ? .green : .red
            let word = output.styled(job.state, style)
            return line(job.json["finished_at"]?.text, word + end + status + standIn + failure, "")
        }
        guard job.state != "running" else { return underWay }
        guard let due = job.json["due_at"]?.text.flatMap(UTCTime.milliseconds(parsing:)) else { return "" }
        guard job.hasNextAttempt else { return "" }
        guard due > moments.now else {
            return line(nil, "next attempt", "as soon as it may" + (job.reason.map { " (\($0))" } ?? ""))
        }
        return line(job.json["due_at"]?.text, "next attempt", "in \(span(until: job.json["due_at"]?.text))")
    }

    private var underWay: String {
        guard let attempt = job.json["under_way"] else { return line(nil, "with the upstream", "") }
        let upstream = safe(attempt["upstream"]?.text ?? "?")
        let number = attempt["number"]?.integer ?? 0
        return line(attempt["started_at"]?.text, "attempt \(number) → \(upstream)", "under way")
    }

    private func span(until text: String?) -> String {
        let left = max(0, (text.flatMap(UTCTime.milliseconds(parsing:)) ?? 0) - moments.now)
        return left < 60_000 ? "\(left / 1_000)s" : DurationText.short(milliseconds: Double(left))
    }

    private var why: String {
        let blocker = job.json["blocker"]
        let reason = blocker?["reason"]?.text ?? job.json["reason"]?.text
        guard let reason else { return "" }
        var text = "Why it waits: \(safe(reason))."
        if let detail = blocker?["detail"]?.text, !detail.isEmpty { text += " \(sentence(safe(detail)))" }
        // The next attempt stands in a line of its own.
        let isTold = blocker?["until"]?.text == job.json["due_at"]?.text
        if let since = blocker?["since"]?.text { text += " Since \(moments.short(since))." }
        if let until = blocker?["until"]?.text, !isTold { text += " Until \(moments.short(until))." }
        if let companions, companions.count > 1 {
            let count = "\(companions.hasMore ? "more than " : "")\(companions.count)"
            let since = companions.since.map { " (since \(moments.short($0)))" } ?? ""
            let whose = advice.isOwnJobs ? "of your jobs" : "jobs"
            text += " The route sees the same failure on \(count) \(whose)\(since)."
        }
        return text + "\n"
    }

    /// Whether it died of its record on disk: what the upstream answered before has no part in that.
    private var isDamaged: Bool { job.state == "dead" && job.string("end") == "corrupt" }
    private static let damage = ": the disk no longer holds what was written"

    private var isInDoubt: Bool {
        job.json["in_doubt"] == .bool(true) || DeadGroups.doubts.contains(job.string("end") ?? "")
    }

    /// Whether what it was to send is kept no more, so that it cannot be sent again.
    private var isGone: Bool {
        job.json["durable"] == .bool(true) && job.json["links"]?["request_body"] == nil
    }

    /// The commands that may help, ready to be copied.
    private var commands: [String] {
        let route = safe(job.json["route"]?.text ?? "")
        let journal = advice.journal(job.id)
        let cancel = advice("jobs cancel \(job.id)", isOwn: true)
        let reason = job.json["blocker"]?["reason"]?.text ?? job.json["reason"]?.text
        switch (job.state, reason) {
        case ("succeeded", _): return []
        case ("dead", _), ("cancelled", _), ("expired", _):
            return afterTheEnd + [journal]
        case (_, "route_paused"):
            return [advice("resume \(route)"), cancel]
        case (_, "route_removed"): return [advice("reload"), cancel]
        case (_, "ordering"):
            return [advice("jobs --route \(route) --limit all", isOwn: true), cancel]
        case (_, "operator_hold"):
            return [advice("jobs release \(job.id)"), cancel]
        case (_, "breaker_open"):
            return [
                advice("limits \(route)"), "to send at once: " + advice("breaker \(route) closed"), journal,
            ]
        case (_, "throttled"), (_, "rate_limited"), (_, "concurrency"):
            return [advice("limits \(route)"), journal]
        case ("held", _): return [advice("jobs release \(job.id)"), advice("status"), journal]
        case ("running", _): return [advice("jobs watch \(job.id)", isOwn: true), cancel]
        default: return [advice("jobs retry \(job.id)"), advice("pause \(route)"), journal]
        }
    }

    /// The commands of the remedy that `explain` tells of the job's end, but for a look at an answer that there was not;
    /// nothing but dropping it is left of a job whose bodies are gone.
    private var afterTheEnd: [String] {
        let ends = Word.all(.end)
        guard !isGone else { return [advice("jobs drop \(job.id)")] }
        let end = job.string("end")
        // A retry mends neither of these, whatever the job may have done before.
        let isFinal = [EndReason.superseded, .corrupt].contains { $0.rawValue == end }
        let name = isInDoubt && !isFinal ? EndReason.outcomeUnknown.rawValue : end
        let commands = (ends.first { $0.name == name } ?? ends[0]).commands
        return commands.filter { job.json["status"] != nil || !$0.contains(text: "--response") }
            .map { advice.filled($0, job: job.id) }
    }

    private func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    private func line(_ moment: String?, _ what: String, _ more: String) -> String {
        let padding = more.isEmpty ? "" : String(repeating: " ", count: max(2, 14 - what.count))
        return column(moment == nil ? "" : moments.precise(moment)) + what + padding + more + "\n"
    }

    /// As wide as the widest moment.
    private var width: Int {
        let texts =
            [job.json["created_at"]?.text, job.json["due_at"]?.text, job.json["finished_at"]?.text]
            + (job.json["attempts"]?.elements ?? []).map { $0["started_at"]?.text }
            + actions.map { $0["at"]?.text }
        return 2 + (texts.map { moments.precise($0).count }.max() ?? 0)
    }

    private func column(_ text: String) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text + "  "
    }
}
