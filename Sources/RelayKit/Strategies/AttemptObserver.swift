public import RelayBase

/// Looks on while jobs run; called in the job's task, in this order, and must not wait.
///
/// `attemptBegan`, `responded` where an answer came, `decided` where the attempt failed, for each attempt; then
/// `finished`, exactly once.
public protocol AttemptObserver: Sendable {
    /// An attempt begins.
    func attemptBegan(_ attempt: Attempt, of job: RunningJob)
    /// A complete answer came, whatever it is.
    func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob)
    /// The attempt failed, and this is what follows: ``Attempt/rule`` and ``Attempt/next``.
    func decided(_ attempt: Attempt, of job: RunningJob)
    /// The job is over, whatever its types.
    func finished(_ job: FinishedJob)
    /// The job is over, with the request as the program wrote it and its own error; called just before the other.
    func finished<Response, ServerError>(
        _ request: Request<Response, ServerError>,
        with outcome: JobOutcome<Response, ServerError>
    )
}

extension AttemptObserver {
    /// Does nothing.
    public func attemptBegan(_ attempt: Attempt, of job: RunningJob) {}
    /// Does nothing.
    public func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob) {}
    /// Does nothing.
    public func decided(_ attempt: Attempt, of job: RunningJob) {}
    /// Does nothing.
    public func finished(_ job: FinishedJob) {}
    /// Does nothing.
    public func finished<Response, ServerError>(
        _ request: Request<Response, ServerError>,
        with outcome: JobOutcome<Response, ServerError>
    ) {}
}

/// A job on its way.
public struct RunningJob: Sendable {
    /// The job's id, a ULID.
    public let id: String
    /// The service's name.
    public let route: String
    /// The request, as it was before any per-attempt preparation.
    public let request: HTTPRequest

    /// The running job that a service would tell an observer of; for a test of one.
    ///
    /// - Parameters:
    ///   - id: the job's id.
    ///   - route: the service's name.
    ///   - request: the request.
    public init(id: String, route: String = "service", request: HTTPRequest) {
        self.id = id
        self.route = route
        self.request = request
    }
}

/// How a job ended, whatever its value.
public struct FinishedJob: Sendable {
    /// The job's id, a ULID.
    public let id: String
    /// The service's name.
    public let route: String
    /// The request, as it was before any per-attempt preparation.
    public let request: HTTPRequest
    /// Nil when the job succeeded or was answered in the upstream's stead.
    public let failure: Failure?
    /// The maker of the answer; nil for a failure.
    public let source: AnswerSource?
    /// Every attempt, in order.
    public let attempts: [Attempt]

    /// The finished job that a service would tell an observer of; for a test of one.
    ///
    /// - Parameters:
    ///   - id: the job's id.
    ///   - route: the service's name.
    ///   - request: the request.
    ///   - failure: what the job ended with; nil for a success.
    ///   - source: who made the answer; nil for a failure.
    ///   - attempts: every attempt, in order.
    public init(
        id: String,
        route: String = "service",
        request: HTTPRequest,
        failure: Failure?,
        source: AnswerSource?,
        attempts: [Attempt]
    ) {
        self.id = id
        self.route = route
        self.request = request
        self.failure = failure
        self.source = source
        self.attempts = attempts
    }
}
