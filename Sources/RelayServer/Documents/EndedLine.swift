import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

/// The outcome of a line whose job nobody keeps, without the answer.
struct EndedLine: Document {
    let line: Int
    let id: String?
    let admission: Admission
    let outcome: Outcome

    static let members: [Member<EndedLine>] = [
        .required("line", .integer(1...), "The line of the job, from 1.") { $0.line },
        .optional("id") { $0.id },
        .required("ok") { $0.outcome.failure == nil },
        .optional("job") { $0.admission.id },
        .optional("attempts") { $0.outcome.attempts.count },
        .optional("stopped_by", .text, "The rule that was asked last.") {
            $0.outcome.failure == nil ? nil : $0.outcome.attempts.stoppedBy
        },
        .written("error", .named("OutcomeError")) { line, json in
            guard let failure = line.outcome.failure else { return }
            json.object("error") { error in
                if let problem = line.problem {
                    error.member("code", problem.code.name)
                    problem.retryMilliseconds?.write("retry_after_ms", into: &error)
                }
                error.members(of: Job.Failure(failure))
            }
        },
        .optional("source") { $0.outcome.report.source },
        .optional("kept", .named("Kept")) { line in
            line.outcome.failure == nil ? line.outcome.report.keptJob.map { Job.Kept($0) } : nil
        },
        .optional("not_kept_because", .text) {
            let report = $0.outcome.report
            return $0.outcome.failure == nil && report.keptJob == nil ? report.notKeptBecause : nil
        },
        .optional("recovered_by", .list(.text), "The rules that acted.") {
            $0.outcome.failure == nil ? $0.outcome.attempts.recoveredBy.unlessEmpty : nil
        },
        .written("status", .status), .written("headers", Job.headers),
        .written("body", .named("Body")),
    ]

    /// An answer of the upstream speaks for itself; without one the code is that of the drop-in way.
    private var problem: Problem? {
        guard let failure = outcome.failure, outcome.answer == nil else { return nil }
        return Problem(
            failure,
            route: admission.route.name,
            job: admission.id,
            tookAllTime: outcome.tookAllTime,
            isRepeatable: admission.context.method.isIdempotent
        )
    }
}
