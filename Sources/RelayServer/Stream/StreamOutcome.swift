import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

/// The outcome of one line of a stream, as one line.
enum StreamOutcome {
    /// The line never became a job.
    static func refused(_ problem: Problem, line: Int, id: String?) -> AnswerDocument {
        kept(.failure(problem), line: line, id: id)
    }

    /// The job is on disk, or why it is not.
    static func kept(
        _ outcome: Result<Acceptance.Accepted, Problem>,
        line: Int,
        id: String?
    ) -> AnswerDocument {
        var json = JSONObjectWriter()
        json.member("line", line)
        write(outcome, id: id, into: &json)
        return AnswerDocument(json, isLine: true)
    }

    /// How a job on disk ends is told by `/v1/jobs/{id}`.
    static func write(
        _ outcome: Result<Acceptance.Accepted, Problem>,
        id: String?,
        into json: inout JSONObjectWriter
    ) {
        if let id { json.member("id", id) }
        switch outcome {
        case .failure(let problem):
            json.member("ok", false)
            json.member("error", json: problem.bytes)
        case .success(let accepted):
            json.member("ok", true)
            json.member("job", accepted.id.description)
            json.member("state", "accepted")
            if accepted.isReplayed { json.member("replayed", true) }
            json.member("repeatable", accepted.mayRepeat)
            json.member("location", "/v1/jobs/\(accepted.id)")
        }
    }

    static func ended(_ outcome: Outcome, _ job: AdmittedJob) -> AnswerDocument {
        let content = outcome.answer.map { JSONContent($0.body) }
        var json = JSONObjectWriter()
        json.member("line", job.line)
        if let id = job.id { json.member("id", id) }
        json.member("ok", outcome.failure == nil)
        json.member("job", job.admission.id.description)
        json.member("attempts", outcome.attempts.count)
        if let failure = outcome.failure {
            if let rule = outcome.attempts.stoppedBy { json.member("stopped_by", rule) }
            json.object("error") { write(failure, outcome, job, into: &$0) }
            if let source = outcome.report.source { json.member("source", source.rawValue) }
        } else {
            if let source = outcome.report.source { json.member("source", source.rawValue) }
            if let kept = outcome.report.keptJob {
                Job.Kept(kept).write("kept", into: &json)
            } else if let reason = outcome.report.notKeptBecause {
                json.member("not_kept_because", reason)
            }
            let rules = outcome.attempts.recoveredBy
            if !rules.isEmpty {
                json.strings("recovered_by", rules)
            }
        }
        if let response = outcome.answer, let content {
            JobAnswer.write(response, content, into: &json)
        }
        return AnswerDocument(json, content, isLine: true, room: outcome.room)
    }

    /// Where there is an answer of the upstream it speaks for itself; else the code is that of the drop-in way.
    private static func write(
        _ failure: Failure,
        _ outcome: Outcome,
        _ job: AdmittedJob,
        into json: inout JSONObjectWriter
    ) {
        if outcome.answer == nil {
            let problem = Problem(
                failure,
                route: job.admission.route.name,
                job: job.admission.id,
                tookAllTime: outcome.tookAllTime
            )
            json.member("code", problem.code.name)
            if let wait = problem.retryAfter {
                json.member("retry_after_ms", wait.saturatedNanoseconds / 1_000_000)
            }
        }
        json.members(of: Job.Failure(failure))
    }
}
