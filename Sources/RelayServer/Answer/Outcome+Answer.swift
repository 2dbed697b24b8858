import RelayBase
package import RelayCore
import RelayEngine
import RelayRoute

extension Outcome {
    /// The answer for the caller of a request that is answered when it is done.
    ///
    /// `refusal` is what was wrong with a body that was still arriving.
    func answer(_ admission: Admission, refusal: @autoclosure () -> Problem?) -> Answer {
        if let answer { return Answer(answer, AnswerFacts(report)) }
        guard var problem = problem(admission) else {
            preconditionFailure("a request succeeded without an answer")
        }
        if let failure, failure.isCallers, let refusal = refusal() {
            problem = refusal
            problem.route = admission.route.name
            problem.job = admission.id
        }
        var fields = HeaderFields()
        fields.append("Content-Type", "application/problem+json")
        if let seconds = problem.retryAfterSeconds { fields.append("Retry-After", seconds) }
        let response = HTTPResponse(status: problem.status, fields: fields, body: .bytes(problem.body))
        return Answer(response, AnswerFacts(report))
    }

    /// Its failure as its caller is told; nil of a success.
    func problem(_ admission: Admission) -> Problem? {
        failure.map { failure in
            Problem(
                failure,
                route: admission.route.name,
                job: admission.id,
                tookAllTime: tookAllTime,
                isRepeatable: admission.context.method.isIdempotent
            )
        }
    }

    /// Whether the attempts took all the time the job had, which a wait that was not begun for want of it did not.
    package var tookAllTime: Bool {
        guard let failure else { return false }
        return failure.isPastDeadline && !attempts.wouldWaitTooLong
    }
}
