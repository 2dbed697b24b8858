import RelayBase
import RelayEngine
import RelayJobs

extension JobReplay {
    /// The answer as its caller would have had it while waiting; a submission is told what a caller that waits is told.
    ///
    /// - Throws: `response_not_ready`, `body_expired`, or what is said where no upstream answered.
    func answer(
        isSubmission: Bool,
        _ extra: [(name: StaticString, value: String)]
    ) async throws(Problem) -> Answer {
        let attempts = try await attempts()
        let kept = try await answer { isSubmission ? failure(attempts) : none }
        let response = HTTPResponse(
            status: kept.status,
            fields: kept.fields,
            body: try await content(of: kept.body)
        )
        var facts = AnswerFacts(
            job: job.record.id,
            source: kept.source,
            isFailure: job.state != .succeeded,
            attempts: attempts
        )
        facts.attemptCount = job.attempts
        facts.extra = extra
        return Answer(response, facts)
    }
}
