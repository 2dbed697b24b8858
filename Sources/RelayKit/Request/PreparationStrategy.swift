public import RelayBase
public import RelayRoute

/// A step of your program that changes a request before it is sent, such as adding fields or a signature.
///
/// An error of a step ends the job with the kind `preparation`. The attempt is not sent and no recovery rule applies; in
/// the phase `attempt`, earlier attempts may have been sent.
public protocol PreparationStrategy: Sendable {
    /// When the step runs; by default before each attempt.
    var phase: PreparationPhase { get }

    /// Returns the request to send.
    ///
    /// The relay cancels the task at the deadline of the attempt or, in the phase `job`, of the job. One second later it
    /// stops waiting for the step, and the job fails; a step that ignores the cancellation goes on, and its result is
    /// discarded.
    ///
    /// - Parameters:
    ///   - request: the request that the step before has returned. In the phase `attempt` the first step always gets
    ///     the request as it was before any attempt, so that nothing accumulates.
    ///   - context: the job, the attempt and the route.
    /// - Returns: the request that is sent, or that the next step sees.
    /// - Throws: any error; the job ends with it.
    func prepare(_ request: HTTPRequest, context: PreparationContext) async throws -> HTTPRequest
}

extension PreparationStrategy {
    /// The default: before each attempt.
    public var phase: PreparationPhase { .attempt }
}

/// The job, the attempt and the route that a step runs for.
public struct PreparationContext: Sendable {
    /// The job's id, the same in every attempt; it can serve as an idempotency key.
    public let job: String
    /// The number of the attempt, from 1; always 1 in the phase `job`.
    public let attempt: Int
    /// The name of the route, which is that of its service.
    public let route: String

    /// Makes a context for a test of a step.
    ///
    /// - Parameters:
    ///   - job: the job's id.
    ///   - attempt: counted from 1.
    ///   - route: the name of the service.
    public init(job: String, attempt: Int = 1, route: String = "service") {
        self.job = job
        self.attempt = attempt
        self.route = route
    }
}

/// A step of preparation made of a closure.
public struct Prepare: PreparationStrategy {
    /// When the step runs.
    public let phase: PreparationPhase
    private let body: @Sendable (HTTPRequest, PreparationContext) async throws -> HTTPRequest

    /// Runs `body` once for each job or before each attempt, as `phase` says.
    public init(
        _ phase: PreparationPhase,
        _ body: @escaping @Sendable (HTTPRequest, PreparationContext) async throws -> HTTPRequest
    ) {
        self.phase = phase
        self.body = body
    }

    /// Runs the closure.
    public func prepare(_ request: HTTPRequest, context: PreparationContext) async throws -> HTTPRequest {
        try await body(request, context)
    }
}
