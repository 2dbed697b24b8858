/// How a job ended: exactly one of these for each request.
public struct JobOutcome<Value: Sendable>: Sendable {
    /// The job's id, a ULID.
    public let id: String
    /// Place of its request in the stream it came from, counted from 0; 0 outside a stream.
    public internal(set) var index = 0
    /// The value, or the failure the job ended with.
    public let result: Result<Value, Failure>
    /// Who made the answer; nil for a failure.
    public let source: AnswerSource?
    /// Every attempt, in order; none when the request was never sent.
    public let attempts: [Attempt]

    /// The value of a job that succeeded.
    public var value: Value? { try? result.get() }

    /// The failure of a job that did not.
    public var failure: Failure? { if case .failure(let failure) = result { failure } else { nil } }

    /// The rules that brought a job that succeeded to its success, in order.
    public var recoveredBy: [String] {
        guard case .success = result else { return [] }
        return attempts.compactMap(\.rule)
    }

    /// The rule that ended a job that failed; nil when none did.
    public var stoppedBy: String? {
        guard case .failure = result, attempts.last?.next == .fail else { return nil }
        return attempts.last?.rule
    }

    /// What observers are told.
    var finished: FinishedJob {
        FinishedJob(id: id, failure: failure, source: source, attempts: attempts)
    }
}
