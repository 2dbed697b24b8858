public import RelayBase
public import RelayRoute

/// A step of a program's own before a request is sent: fields, a signature.
///
/// An error from it ends the job with the kind `preparation` before anything is sent; no rule is asked.
public protocol PreparationStrategy: Sendable {
    /// When it runs; before each attempt unless the type says otherwise.
    var phase: PreparationPhase { get }

    /// The request as it is to be sent. Cancelled at the attempt's deadline, or the job's; what is not done a second
    /// later is left to itself.
    ///
    /// - Parameters:
    ///   - request: for the phase `attempt` always the request as it was before any attempt, so that nothing
    ///     accumulates.
    ///   - context: the job and the attempt.
    /// - Returns: the request that is sent, or that the next step sees.
    /// - Throws: why the request cannot be made; the job ends with it.
    func prepare(_ request: HTTPRequest, context: PreparationContext) async throws -> HTTPRequest
}

extension PreparationStrategy {
    /// Before each attempt.
    public var phase: PreparationPhase { .attempt }
}

/// The facts that a step of preparation may want to know.
public struct PreparationContext: Sendable {
    /// The job's id, the same in every attempt: an idempotency key.
    public let job: String
    /// Counted from 1; 1 for the phase `job`.
    public let attempt: Int
    /// The route's name.
    public let route: String

    /// The context that a service would give a step; for a test of one.
    ///
    /// - Parameters:
    ///   - job: the job's id.
    ///   - attempt: counted from 1.
    ///   - route: the service's name.
    public init(job: String, attempt: Int = 1, route: String = "service") {
        self.job = job
        self.attempt = attempt
        self.route = route
    }
}

/// A step of preparation as a closure.
public struct Prepare: PreparationStrategy {
    /// When it runs.
    public let phase: PreparationPhase
    private let body: @Sendable (HTTPRequest, PreparationContext) async throws -> HTTPRequest

    /// Runs `body` once a job or before each attempt.
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
