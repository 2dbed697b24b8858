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

    /// The job is on disk, or why it is not; how it ends is told by `/v1/jobs/{id}`.
    static func kept(
        _ outcome: Result<Acceptance.Accepted, Problem>,
        line: Int,
        id: String?
    ) -> AnswerDocument {
        var json = JSONObjectWriter()
        json.member("line", line)
        json.members(of: ListedOutcome(id: id, outcome: outcome))
        return AnswerDocument(json, isLine: true)
    }

    static func ended(_ outcome: Outcome, _ job: AdmittedJob) -> AnswerDocument {
        let content = outcome.answer.map { JSONContent($0.body) }
        var json = JSONObjectWriter()
        json.members(of: EndedLine(line: job.line, id: job.id, admission: job.admission, outcome: outcome))
        if let response = outcome.answer, let content {
            JobAnswer.write(response, content, into: &json)
        }
        return AnswerDocument(json, content, isLine: true, reservation: outcome.reservation)
    }
}
