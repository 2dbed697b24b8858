package import RelayBase
package import RelayJobs
package import RelayRoute

/// How a job ended that somebody waited for: exactly one of these, exactly once.
package struct Outcome: Sendable {
    /// The answer its caller gets: a success, what stands in for one, or the upstream's last answer as it is; nil when
    /// there is none.
    package var answer: HTTPResponse?
    package var report: JobReport
    /// The memory its answer takes, until that is passed on.
    package let reservation: MemoryReservation?

    /// The job succeeded, or something stands in for a success.
    package init(
        _ context: JobContext,
        _ answer: HTTPResponse,
        by source: AnswerSource,
        attempts: [Attempt] = [],
        sentOnceBecause: String? = nil,
        keptJob: KeptJobName? = nil,
        reservation: MemoryReservation? = nil
    ) {
        self.answer = answer
        self.reservation = reservation
        report = JobReport(
            context,
            .succeeded,
            answer,
            by: source,
            attempts: attempts,
            sentOnceBecause: sentOnceBecause,
            keptJob: keptJob
        )
    }

    /// The job failed; `answer` is the upstream's last one, where there was one.
    package init(
        _ context: JobContext,
        _ failure: Failure,
        answer: HTTPResponse? = nil,
        attempts: [Attempt] = [],
        sentOnceBecause: String? = nil,
        reservation: MemoryReservation? = nil
    ) {
        self.answer = answer
        self.reservation = reservation
        report = JobReport(
            context,
            failure.isCallers ? .cancelled : .dead,
            answer,
            failure: failure,
            attempts: attempts,
            sentOnceBecause: sentOnceBecause
        )
    }

    package var attempts: [Attempt] { report.attempts }

    /// Why it failed; nil when it did not.
    package var failure: Failure? { report.failure }
}
