import RelayBase
import RelayInterface

/// The end of a request that was answered when it was done: the last lines of its story.
struct AnsweredEnd {
    private let view: JobDocument
    private var job: Job { view.job }

    init(_ view: JobDocument) { self.view = view }

    /// The lines, the one that tells the end with `time` to the right of a column of that width.
    func text(at time: String, _ width: Int, _ output: Output) -> String {
        func line(_ time: String, _ text: String) -> String {
            String(repeating: " ", count: max(0, width - time.count)) + time + "  " + text + "\n"
        }
        var text = ""
        if job.attempts.judged?.metNoRule == true {
            text += line("", "no rule of the route acts on this failure")
        }
        return text + line(time, end(output))
    }

    private func end(_ output: Output) -> String {
        let status = job.status.map { String($0.rawValue) } ?? "no answer"
        switch job.outcomeWord.flatMap(OutcomeWord.init) {
        case .success:
            return output.styled("answered \(status)", .green) + (job.sourceRemark ?? "")
        case .fallback?, .placeholder?, .stale?:
            return output.styled("answered \(status) with the \(job.outcomeWord ?? "")", .yellow) + further
        case .failure, nil:
            return output.styled("failed", .red) + (job.lastFailure?.text.map { ": \(safe($0))" } ?? "")
                + doubt
        }
    }

    /// Whether it goes on as a kept job.
    private var further: String {
        guard let kept = job.kept else { return "" }
        let other = kept.job == job.id ? "a kept job" : "the kept job \(safe(kept.job))"
        return "; the request goes on as \(other)"
    }

    /// Whether the upstream may have done what was asked, where doing it twice would matter.
    private var doubt: String {
        switch job.lastFailure?.sent {
        case Sent.unknown.rawValue: return " (outcome unknown: it may have been carried out)"
        case Sent.answered.rawValue where job.request.method != nil && !job.method.isIdempotent:
            return " (an answer that does not say it was refused: it may have been carried out)"
        default: return ""
        }
    }
}

extension JobDocument {
    /// The attempts and the end of an answered request by their milliseconds since its first attempt, without a title.
    func elapsed(for output: Output) -> String {
        func clock(_ milliseconds: Double) -> String {
            DurationText.decimals(min(max(0, milliseconds), 1e12) / 1000, 3) + "s"
        }
        let end = job.attempts.judged.map { last in
            Double(last.startedAfter) + Double(last.duration.saturatedNanoseconds) / 1_000_000
        }
        let remarks = [job.bodyRemark, job.permitRemark].compactMap { $0 }.map {
            String(repeating: " ", count: 12) + $0 + "\n"
        }
        return remarks.joined()
            + job.attempts.map { attempt in
                AttemptLines(attempt).text(at: clock(Double(attempt.startedAfter)), width: 10, output)
            }.joined() + AnsweredEnd(self).text(at: clock(end ?? 0), 10, output)
    }
}

extension Job {
    /// How the answer came about that is the upstream's, where that is worth a word.
    var sourceRemark: String? {
        switch source.flatMap(AnswerSource.init) {
        case .verified?: ", found by asking the upstream"
        case .followed?: ", at the end of its operation"
        case .begun?: ", and its operation goes on"
        default: nil
        }
    }

    /// Why its body could be sent once only.
    var bodyRemark: String? {
        request.sentOnceBecause.map { "the body is not kept: it is sent once (\(safe($0)))" }
    }

    /// How long it waited for a permit, where that is worth a word.
    var permitRemark: String? { permitWait.flatMap { PermitWait.text(.milliseconds($0)) } }
}
