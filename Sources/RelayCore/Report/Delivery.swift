package import RelayBase
package import RelayJobs
package import RelayRoute

/// How one run of a durable job came out: what the store is told.
///
/// A run ends with the first wait: however long or short that is, it is the store that keeps it.
package struct Delivery: Sendable {
    package let ending: Settlement.Ending
    /// Why the route is to be paused, for which the job waits unless it is over.
    package var pauseReason: String?
    /// The run's view of the job; the store has the last word.
    package let report: JobReport
    /// The upstream's last answer, where there was one.
    package var answer: HTTPResponse?
    /// Whether one of the attempts may have been carried out and may not be repeated.
    package var isUncertain = false
    /// Whether the upstream has said of the attempts before that none was carried out.
    package var isSettled = false
    /// Whether the operation that the upstream had begun was done, and its result not there yet.
    package var isOperationDone = false
    /// The memory its answer takes, until that is on disk.
    package var reservation: MemoryReservation?
    /// The hold that it waits for before it may be sent.
    package var hold: AttemptDeferral?
    /// There was no room for the answer's content, which nothing had to look into.
    package var lacksContent = false

    /// The job is delivered.
    package init(
        _ context: JobContext,
        _ answer: HTTPResponse,
        by source: AnswerSource,
        attempts: [Attempt]
    ) {
        ending = .succeeded
        self.answer = answer
        report = JobReport(context, .succeeded, answer, by: source, attempts: attempts)
    }

    /// The run ended otherwise; without a failure where nothing was tried.
    package init(
        _ context: JobContext,
        _ ending: Settlement.Ending,
        _ failure: Failure?,
        answer: HTTPResponse? = nil,
        attempts: [Attempt] = []
    ) {
        self.ending = ending
        self.answer = answer
        report = JobReport(
            context,
            ending.state,
            end: ending.end,
            answer,
            failure: failure,
            attempts: attempts
        )
    }

    package var attempts: [Attempt] { report.attempts }

    /// Why it did not succeed; nil when it did, or when its time ran out untried.
    package var failure: Failure? { report.failure }
}

extension Settlement.Ending {
    fileprivate var state: JobState {
        switch self {
        case .succeeded: .succeeded
        case .dead: .dead
        case .cancelled: .cancelled
        case .expired: .expired
        case .retry: .retrying
        case .requeued: .queued
        case .held: .held
        }
    }

    fileprivate var end: EndReason? { if case .dead(let end) = self { end } else { nil } }
}
