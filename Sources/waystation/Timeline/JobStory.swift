import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs

extension Job {
    /// Whether an operation that the upstream has begun was open at the end, and no word of its end is on record.
    fileprivate var hasUntoldOperation: Bool {
        let ends = Set((LookUp.ofOperations + LookUp.ofStops).map(\.rawValue)).subtracting([
            "running", "unanswered",
        ])
        return attempts.reduce(false) { isOpen, attempt in
            if let word = attempt.lookUp { return isOpen && !ends.contains(word) }
            return attempt.operation != nil
        }
    }
}

/// The story of a job, for people: what happened to it, why it waits and what can be done about it.
struct JobStory {
    /// Jobs of the route that wait with the same failure, this one included.
    struct Companions {
        var count: Int
        /// Whether there are more than were counted.
        var hasMore: Bool
        /// When the oldest of them was accepted.
        var since: WallTime?
    }

    private let view: JobDocument
    private let moments: Moments
    private let companions: Companions?
    private let advice: Advice
    private let userName: (UInt32) -> String?
    private var job: Job { view.job }

    /// `userName` looks the names of users up, which the daemon leaves to those who look.
    init(
        _ json: JSONValue,
        _ moments: Moments,
        companions: Companions? = nil,
        _ advice: Advice = Advice(),
        userName: @escaping (UInt32) -> String? = { _ in nil }
    ) {
        view = JobDocument(json)
        self.moments = moments
        self.companions = companions
        self.advice = advice
        self.userName = userName
    }

    func text(for output: Output) -> String {
        let attempts = job.attempts
        // One whose caller was answered first was kept only then.
        let before = attempts.firstIndex { $0.next == "respond_and_keep" }.map { $0 + 1 } ?? 0
        let first = job.isDurable ? before : 0
        var text = output.styled(title, .bold) + "\n"
        text += attempts[..<first].map { lines(of: $0, output) }.joined()
        text += line(job.createdAt, job.isDurable ? "accepted" : "received", accepted)
        if job.attemptCount > attempts.count {
            text += column("") + "(earlier attempts not shown: \(job.attemptCount - attempts.count))\n"
        }
        text += life(attempts[first...], output)
        if view.state == "cancelled", job.hasUntoldOperation {
            text +=
                column("")
                + "its operation goes on, as far as is on record: the upstream was not told to stop it (follow.cancel)\n"
        }
        guard job.isDurable else {
            text += AnsweredEnd(view).text(at: time(job.finishedAt), width, output)
            // It took several times the processor time of a request that is passed through.
            guard let path = job.ordinaryPath else { return text }
            return text + column("")
                + "took the ordinary path, which costs the relay more: \(safe(path.detail))\n"
        }
        if view.isOver, view.state != "succeeded", isInDoubt {
            text +=
                column("") + "it may have been carried out: ask the upstream first, a retry may do it twice\n"
        }
        text += now(output)
        if let of = job.noticeOf { text += column("") + "it tells how job \(safe(of)) ended\n" }
        if let notice = job.notice { text += column("") + notice.text + "\n" }
        text += job.actions.filter(\.isAfterTheEnd).map(line).joined()
        if !view.isOver { text += why }
        let commands = commands
        if !commands.isEmpty { text += "Do: " + commands.joined(separator: "   ·   ") + "\n" }
        return text
    }

    /// The attempts, and what was done to the job before, between and after them.
    private func life(_ attempts: ArraySlice<Job.Attempt>, _ output: Output) -> String {
        var text = ""
        var actions = job.actions.filter { !$0.isAfterTheEnd }[...]
        for attempt in attempts {
            while let action = actions.first, let at = action.at, attempt.startedAt.map({ at <= $0 }) == true
            {
                text += line(actions.removeFirst())
            }
            text += lines(of: attempt, output)
        }
        return text + actions.map(line).joined()
    }

    private func lines(of attempt: Job.Attempt, _ output: Output) -> String {
        AttemptLines(attempt).text(at: time(attempt.startedAt), width: width, output)
    }

    private func line(_ action: Job.Action) -> String { line(action.at, action.what, action.who) }

    private var title: String {
        var parts = ["Job \(view.id)", view.route, view.request]
        if let size = job.request.size { parts.append(ByteText.short(size)) }
        if let client = job.client {
            parts.append("from " + client.text(userName(client.uid)))
        }
        if !job.labels.isEmpty { parts.append("label \(view.labels)") }
        return parts.joined(separator: " · ")
    }

    private var accepted: String {
        var words = job.isDurable ? ["durable"] : []
        if job.isKeyed == true { words.append("with an idempotency key") }
        if job.isRepeatable == false, !view.isOver {
            words.append("not repeatable (sent again only after it was refused or never sent)")
        }
        if let key = job.orderingKey { words.append("in order of \"\(safe(key))\"") }
        if let expires = job.expiresAt, !view.isOver { words.append("expires in \(span(until: expires))") }
        words += [job.bodyRemark, job.permitRemark].compactMap { $0 }
        return words.joined(separator: ", ")
    }

    /// Where it stands: the end, or the next attempt.
    private func now(_ output: Output) -> String {
        guard !view.isOver else {
            // A failure says itself what the answer was.
            let answered = isDamaged || view.failure != nil ? nil : job.status
            let status = answered.map { ": answered \($0.rawValue)" } ?? ""
            let standIn =
                switch job.source {
                case nil, AnswerSource.upstream.rawValue?: ""
                case let source?: job.sourceRemark ?? " with the \(safe(source))"
                }
            let rules = view.wasExhaustedByNoRule ? ", no rule acts on it" : ""
            let end = view.end.flatMap { $0 == view.state ? nil : " (\($0)\(rules))" } ?? ""
            let failure = isDamaged ? damage : view.failure.map { ": \($0)" } ?? ""
            let word = output.styled(view.state, view.state == "succeeded" ? .green : .red)
            return line(job.finishedAt, word + end + status + standIn + failure, "")
        }
        guard view.state != "running" else { return underWay }
        guard let due = job.dueAt, view.hasNextAttempt else { return "" }
        guard due.milliseconds > moments.now else {
            return line(nil, "next attempt", "as soon as it may" + (view.reason.map { " (\($0))" } ?? ""))
        }
        return line(due, "next attempt", "in \(span(until: due))")
    }

    private var underWay: String {
        guard let attempt = job.underWay else { return line(nil, "with the upstream", "") }
        return line(
            attempt.startedAt,
            "attempt \(attempt.number) → \(safe(attempt.upstream))",
            "under way"
        )
    }

    private func span(until moment: WallTime) -> String {
        let left = max(0, moment.milliseconds - moments.now)
        return left < 60_000 ? "\(left / 1_000)s" : DurationText.short(milliseconds: Double(left))
    }

    private var why: String {
        let blocker = job.blocker
        guard let reason = blocker?.reason ?? job.reason else { return "" }
        var text = "Why it waits: \(safe(reason))."
        if let detail = blocker?.detail, !detail.isEmpty { text += " \(sentence(safe(detail)))" }
        if let since = blocker?.since { text += " Since \(moments.short(since))." }
        // The next attempt stands in a line of its own.
        if let until = blocker?.until, until != job.dueAt { text += " Until \(moments.short(until))." }
        if let companions, companions.count > 1 {
            let count = "\(companions.hasMore ? "more than " : "")\(companions.count)"
            let since = companions.since.map { " (since \(moments.short($0)))" } ?? ""
            let whose = advice.isOwnJobs ? "of your jobs" : "jobs"
            text += " The route sees the same failure on \(count) \(whose)\(since)."
        }
        return text + "\n"
    }

    /// Whether it died of its record on disk: what the upstream answered before has no part in that.
    private var isDamaged: Bool { view.state == "dead" && job.end == EndReason.corrupt.rawValue }
    private var damage: String {
        let text = Word.all(.end).first { $0.name == EndReason.corrupt.rawValue }?.text ?? ""
        return ": " + text.prefix(1).lowercased() + text.dropFirst().dropLast()
    }

    private var isInDoubt: Bool { job.isInDoubt || EndReason(rawValue: view.end ?? "").mayHaveActed }

    /// Whether what it was to send is kept no more, so that it cannot be sent again.
    private var isGone: Bool { job.links?.requestBody == nil }

    /// The commands that may help, ready to be copied: those of the remedy that `explain` tells of the job's end, or of
    /// the reason of its wait.
    private var commands: [String] {
        let isRunning = view.state == JobState.running.name
        guard view.state != JobState.succeeded.name else { return [] }
        let words = Word.all(view.isOver ? .end : isRunning ? .state : .reason)
        let name = view.isOver ? adviceOfEnd : isRunning ? view.state : job.blocker?.reason ?? job.reason
        let word = words.first { $0.name == name } ?? words[0]
        // Nothing but dropping it is left of one whose bodies are gone.
        let clauses = view.isOver && isGone ? ["waystation jobs drop JOB"] : word.commands
        // There may have been no answer to look at.
        return clauses.filter { job.status != nil || !$0.contains(text: "--response") }
            .map { advice.filled($0, job: view.id, route: safe(job.route)) } + [advice.journal(view.id)]
    }

    /// The end that has the advice.
    private var adviceOfEnd: String? {
        // A retry mends neither of these, whatever the job may have done before.
        let isFinal = [EndReason.superseded, .corrupt].contains { $0.rawValue == job.end }
        return isInDoubt && !isFinal ? EndReason.outcomeUnknown.rawValue : job.end
    }

    private func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    private func line(_ moment: WallTime?, _ what: String, _ more: String) -> String {
        let padding = more.isEmpty ? "" : String(repeating: " ", count: max(2, 14 - what.count))
        return column(time(moment)) + what + padding + more + "\n"
    }

    private func time(_ moment: WallTime?) -> String { moment.map { moments.precise($0.milliseconds) } ?? "" }

    /// As wide as the widest moment.
    private var width: Int {
        let shown =
            [job.createdAt, job.dueAt, job.finishedAt] + job.attempts.map(\.startedAt) + job.actions.map(\.at)
        return 2 + (shown.map { time($0).count }.max() ?? 0)
    }

    private func column(_ text: String) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text + "  "
    }
}

extension Job.Notice {
    /// The line about it.
    fileprivate var text: String {
        let supersedes = supersedes.map { ", in place of \(safe($0))" } ?? ""
        return isOwed
            ? "its notice is owed: job \(safe(job))" + supersedes
            : "job \(safe(job)) tells another route of it" + supersedes
    }
}
