import RelayBase
package import RelayCore
package import RelayRoute

/// An answer whose head is with its caller while its content is on the way; its request is over when that is.
///
/// The connection that passes it on tells once how it ended; an answer let go of before was not wanted to its end.
package final class StreamedAnswer {
    private let execution: Execution
    private let report: JobReport
    /// When its last attempt began, by the monotonic clock.
    private let began: Instant
    private var isTold = false

    init(_ execution: Execution, _ report: JobReport) {
        self.execution = execution
        self.report = report
        began = execution.ports.time.now().before(by: report.lastTook)
    }

    deinit { ended(.unwanted) }

    package func ended(_ end: AnswerEnd) {
        guard !isTold else { return }
        isTold = true
        execution.answerEnded(end)
        execution.ports.tell(report, end, taken: began.duration(to: execution.ports.time.now()))
    }
}

extension RelayPorts {
    /// Tells of a request whose answer's content has ended like that.
    package func tell(_ answered: JobReport, _ end: AnswerEnd, taken: Duration) {
        if case .whole = end { return sink.record(.ended(answered)) }
        let report = answered.ended(end, taken: taken)
        if report.failure != nil, let context = report.context, let attempt = report.attempts.last {
            sink.record(.attemptFailed(context, attempt))
        }
        sink.record(.ended(report))
    }
}
