import RelayCore
import RelayEngine
import RelayJSON

/// The outcome of one line of a stream, as one line.
enum StreamOutcome {
    /// The line never became a job.
    static func refused(_ problem: Problem, line: Int, id: String?) -> [UInt8] {
        var json = begin(line, id, isSuccess: false)
        json.member("error", json: problem.body)
        return end(json)
    }

    /// The job is on disk; how it ends is told by `/v1/jobs/{id}`.
    static func accepted(_ accepted: DurableJobs.Accepted, _ job: AdmittedJob) -> [UInt8] {
        var json = begin(job.line, job.id, isSuccess: true)
        json.member("job", accepted.id.description)
        json.member("state", "accepted")
        if accepted.isReplayed { json.member("replayed", true) }
        json.member("repeatable", accepted.mayRepeat)
        json.member("location", "/v1/jobs/\(accepted.id)")
        return end(json)
    }

    static func ended(_ outcome: Outcome, _ job: AdmittedJob) -> [UInt8] {
        let isSuccess = if case .answered = outcome.ending { true } else { false }
        var json = begin(job.line, job.id, isSuccess: isSuccess)
        json.member("job", job.admission.id.description)
        json.member("attempts", outcome.attempts.count)
        switch outcome.ending {
        case .answered(let response, let source):
            json.member("source", source.rawValue)
            let rules = outcome.attempts.recoveredBy
            if !rules.isEmpty {
                json.array("recovered_by") { list in for rule in rules { list.element(rule) } }
            }
            write(response, into: &json)
        case .failed(let failure, let answer):
            if let rule = outcome.attempts.stoppedBy { json.member("stopped_by", rule) }
            json.object("error") { write(failure, hasAnswer: answer != nil, outcome, job, into: &$0) }
            if let answer {
                json.member("source", Outcome.Source.upstream.rawValue)
                write(answer, into: &json)
            }
        }
        return end(json)
    }

    private static func begin(_ line: Int, _ id: String?, isSuccess: Bool) -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("line", line)
        if let id { json.member("id", id) }
        json.member("ok", isSuccess)
        return json
    }

    /// A body that is JSON stands in the outcome as the upstream wrote it: its line ends are blanks between tokens.
    private static func end(_ json: JSONObjectWriter) -> [UInt8] {
        var bytes = json.bytes
        for index in bytes.indices where bytes[index] == 0x0A || bytes[index] == 0x0D { bytes[index] = 0x20 }
        bytes.append(0x0A)
        return bytes
    }

    private static func write(_ response: HTTPResponse, into json: inout JSONObjectWriter) {
        var body: [UInt8] = []
        if case .bytes(let bytes) = response.body { body = bytes }
        JobAnswer.write(response, body, into: &json)
    }

    /// Where there is an answer of the upstream it speaks for itself; else the code is that of the drop-in way.
    private static func write(
        _ failure: Failure,
        hasAnswer: Bool,
        _ outcome: Outcome,
        _ job: AdmittedJob,
        into json: inout JSONObjectWriter
    ) {
        if !hasAnswer {
            let problem = Problem(
                failure,
                route: job.admission.route.name,
                job: job.admission.id,
                pastDeadline: outcome.isPastDeadline(job.admission)
            )
            json.member("code", problem.code.rawValue)
            if let wait = problem.retryAfter {
                json.member("retry_after_ms", wait.saturatedNanoseconds / 1_000_000)
            }
        }
        json.members(of: failure)
    }
}
