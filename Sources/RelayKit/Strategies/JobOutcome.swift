public import RelayBase

/// How a job ended: exactly one of these for each request.
public struct JobOutcome<Value: Sendable, ServerError: FailureInitializable>: Sendable {
    /// The job's id, a ULID.
    public let id: String
    /// Place of its request in the stream it came from, counted from 0; 0 outside a stream.
    public internal(set) var index = 0
    /// The value, or the error of the request.
    public let result: Result<Value, ServerError>
    /// The failure of a job that did not succeed, whatever error the request makes of it.
    public let failure: Failure?
    /// The maker of the answer; nil for a failure.
    public let source: AnswerSource?
    /// Every attempt, in order; none when the request was never sent.
    public let attempts: [Attempt]

    /// The value of a job that succeeded.
    public var value: Value? { try? result.get() }

    /// The request's error of a job that did not.
    public var error: ServerError? { if case .failure(let error) = result { error } else { nil } }

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

/// How a job of a ``PlainRequest`` ended.
public typealias PlainOutcome<Value: Sendable> = JobOutcome<Value, Failure>

extension JobOutcome: CustomStringConvertible {
    /// How the job ended and every attempt; of a value only its type.
    public var description: String {
        let end =
            switch result {
            case .success: "\(Value.self) from \(source?.rawValue ?? "nobody")"
            case .failure: failure.map { "\($0)" } ?? "failed"
            }
        return ([end] + attempts.map(\.description)).joined(separator: "; ")
    }
}
