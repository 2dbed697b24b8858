public import RelayBase

/// How a job ended: exactly one of these for each request.
public struct JobOutcome<Value: Sendable>: Sendable {
    /// The job's id, a ULID.
    public let id: String
    /// Place of its request in the stream it came from, counted from 0; 0 outside a stream.
    public internal(set) var index = 0
    /// The value, or the failure the job ended with.
    public let result: Result<Value, Failure>
    /// The maker of the answer; nil for a failure.
    public let source: AnswerSource?
    /// Every attempt, in order; none when the request was never sent.
    public let attempts: [Attempt]

    /// The value of a job that succeeded.
    public var value: Value? { try? result.get() }

    /// The failure of a job that did not.
    public var failure: Failure? { if case .failure(let failure) = result { failure } else { nil } }

    /// Whether the job failed for want of time; see ``Failure/isPastDeadline``.
    public var isPastDeadline: Bool { failure?.isPastDeadline ?? false }

    /// The rules that brought a job that succeeded to its success: each once, in the order they first acted.
    ///
    /// None for a job that failed, or whose value is the request's own placeholder and no rule acted.
    public var recoveredBy: [String] {
        if case .success = result { attempts.recoveredBy } else { [] }
    }

    /// The rule that ended a job that failed, or the strategy that stopped it; nil when none did.
    public var stoppedBy: String? {
        if case .failure = result { attempts.stoppedBy } else { nil }
    }

    /// The finished job that observers are told of.
    func finished(_ job: RunningJob) -> FinishedJob {
        FinishedJob(
            id: id,
            route: job.route,
            request: job.request,
            failure: failure,
            source: source,
            attempts: attempts
        )
    }
}

extension JobOutcome: CustomStringConvertible {
    /// How the job ended and every attempt; of a value only its type.
    public var description: String {
        let end =
            switch result {
            case .success: "\(Value.self) from \(source?.rawValue ?? "nobody")"
            case .failure(let failure): "\(failure)"
            }
        return ([end] + attempts.map(\.description)).joined(separator: "; ")
    }
}
