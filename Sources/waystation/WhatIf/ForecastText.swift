import RelayBase
import RelayInterface
import RelayJSON

/// A forecast for people: each attempt in the words of `explain`, what the caller gets, and what was taken for granted.
struct ForecastText {
    private let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    func text(for output: Output) -> String {
        let isKept = json["durable"] == .bool(true)
        let words = (json["series"]?.elements ?? []).compactMap { $0.text }.map(safe)
        var title = ["What if", safe(json["route"]?.text ?? ""), safe(json["method"]?.text ?? "")]
        if json["keyed"] == .bool(true) { title.append("with an idempotency key") }
        if isKept { title.append("kept") }
        title.append(words.joined(separator: " "))
        var text = output.styled(title.joined(separator: " · "), .bold) + "\n"
        let closed = json["closed_until"]?.text.map(safe)
        let shortest = ForecastCourse(json["shortest"], closedUntil: closed)
        let longest = ForecastCourse(json["longest"], closedUntil: closed)
        if json["one_course"] == .bool(true) {
            text += shortest.text(to: longest, output)
        } else {
            text += "With the shortest waits that chance can give:\n" + shortest.text(to: nil, output)
            text += "With the longest:\n" + longest.text(to: nil, output)
        }
        let assumptions = (json["assumes"]?.elements ?? []).compactMap { $0.text }.map(safe)
        return text
            + assumptions.map { TextFill.lines($0, columns: 78, indent: 0, hanging: 2) }.joined()
    }
}

/// One run of a forecast.
struct ForecastCourse {
    private let json: JSONValue?
    /// The request as its record would show it.
    private let request: Job?
    /// The kept job, as its own would.
    private let job: Job?
    /// The end of the planned window in which it begins.
    private let closedUntil: String?

    init(_ json: JSONValue?, closedUntil: String?) {
        self.json = json
        self.closedUntil = closedUntil
        request = json?["request"].flatMap(Job.init)
        job = json?["job"].flatMap(Job.init)
    }

    /// The lines; with the `other` run, which takes the same way, each time is a range up to that of the other.
    func text(to other: ForecastCourse?, _ output: Output) -> String {
        var lines: [(time: String, text: (String, Int) -> String)] = []
        func add(_ attempt: Job.Attempt, _ longest: Job.Attempt?) {
            lines.append(
                (
                    clock(attempt.startedAfter, longest?.startedAfter),
                    { AttemptLines(attempt, longest: longest).text(at: $0, width: $1, output) }
                )
            )
        }
        func add(_ time: String, _ text: String) {
            lines.append(
                (
                    time,
                    { time, width in String(repeating: " ", count: width - time.count) + time + "  \(text)\n"
                    }
                )
            )
        }
        let asked = request?.attempts ?? []
        for (index, attempt) in asked.enumerated() { add(attempt, other?.request?.attempts.at(index)) }
        if request != nil {
            if asked.judged?.metNoRule == true { add("", "no rule of the route acts on this failure") }
            add(
                clock(milliseconds("caller", "after_ms"), other?.milliseconds("caller", "after_ms")),
                caller(output)
            )
        } else {
            add(clock(0, nil), "the caller gets 202 as soon as the job is on disk")
        }
        if let job {
            if let closedUntil {
                add("", "the route is closed until \(closedUntil), as planned: the job waits")
            }
            for (index, attempt) in job.attempts.enumerated().dropFirst(asked.count) {
                add(attempt, other?.job?.attempts.at(index))
            }
            if job.attempts.judged?.metNoRule == true { add("", "no rule of the route acts on this failure") }
            add(clock(milliseconds("length_ms"), other?.milliseconds("length_ms")), end(job, output))
        }
        let width = 2 + (lines.map(\.time.count).max() ?? 0)
        return lines.map { $0.text($0.time, width) }.joined()
    }

    private func milliseconds(_ names: String...) -> Int64? {
        let value = names.reduce(json) { $0?[$1] }
        return value.flatMap(Duration.init).map { $0.saturatedNanoseconds / 1_000_000 }
    }

    /// `0.250s`, `0.250s to 0.500s`; from a minute on in larger units.
    private func clock(_ least: Int64?, _ most: Int64?) -> String {
        func one(_ milliseconds: Int64) -> String {
            milliseconds < 60_000
                ? DurationText.decimals(Double(milliseconds) / 1_000, 3) + "s"
                : DurationText.short(milliseconds: Double(milliseconds))
        }
        guard let least else { return "" }
        guard let most, one(most) != one(least) else { return one(least) }
        // The spacing of attempts may make up for a shorter wait, and more.
        return "\(one(min(least, most))) to \(one(max(least, most)))"
    }

    /// The answer in one line: `the caller gets 502 upstream_failed: …`.
    private func caller(_ output: Output) -> String {
        let answer = json?["caller"]
        let status = answer?["status"]?.integer.map { String($0) } ?? "no answer"
        let source = answer?["source"]?.text ?? "relay"
        let isFailure = answer?["outcome"]?.text == OutcomeWord.failure.rawValue
        var text = "the caller gets \(status)"
        switch source {
        case "relay": text += answer?["code"]?.text.map { " \(safe($0))" } ?? ""
        case "upstream": text += " from the upstream"
        case _ where AnswerSource(rawValue: source)?.isUpstreams == true: text += " from \(safe(source))"
        default: text += " with the \(safe(source))"
        }
        if isFailure, let detail = answer?["detail"]?.text { text += ": \(safe(detail))" }
        if let wait = answer?["retry_after_ms"].flatMap(Duration.init) {
            text += " (Retry-After: \(AttemptLines.short(wait)))"
        }
        if job != nil { text += "; the request goes on as a kept job" }
        return output.styled(text, isFailure ? .red : source == "upstream" ? .green : .yellow)
    }

    private func end(_ job: Job, _ output: Output) -> String {
        let isOver = job.state.isOver
        let reason =
            (isOver ? job.end : job.reason).flatMap { $0 == job.stateWord ? nil : " (\(safe($0)))" } ?? ""
        let failure = job.lastFailure?.text.map { ": \(safe($0))" } ?? ""
        let word = output.styled(safe(job.stateWord), job.state == .succeeded ? .green : .red)
        let verb = [.succeeded, .expired].contains(job.state) ? "has" : "is"
        return "the job \(verb) \(word)\(reason)" + (isOver ? failure : ", and waits\(failure)")
    }
}

extension Array {
    fileprivate func at(_ index: Int) -> Element? { index < count ? self[index] : nil }
}
