public import RelayBase
public import RelayKit
public import RelayRoute

/// A middleware around a function of the program's own, in messages of RelayKit: it needs no glue.
///
/// ```swift
/// let relay = try FunctionMiddleware { $0.recovery = [.backoff(on: [429, 503])] }
/// let answer = try await relay.send(HTTPRequest(method: .get, target: "books/7")) { request in
///     try await ask(request)
/// }
/// ```
public typealias FunctionMiddleware = RelayMiddleware<HTTPRequest, RelayBase.Body, HTTPResponse>

extension FunctionMiddleware {
    /// Makes a middleware for functions that send a request and give its answer.
    ///
    /// - Parameters:
    ///   - name: stands in messages and contexts.
    ///   - failure: how far a request got whose function threw that error; nil where nobody knows, so that nothing
    ///     unsafe is repeated. By default a `Failure` says it itself.
    ///   - time: the clocks and every wait.
    ///   - entropy: jitter and job ids.
    ///   - credentials: what the policy's `authentication` names; a token comes from the program's own code.
    ///   - observers: told about every request, in order.
    ///   - change: sets the policy; its one upstream is the function itself.
    /// - Throws: why the policy cannot hold what it promises.
    public init(
        name: String = "client",
        failure: @escaping @Sendable (any Error) -> Failure? = { $0 as? Failure },
        time: any TimeSource = ProgramTime(),
        entropy: any Entropy = ProgramEntropy(),
        credentials: [CredentialDefinition] = [],
        observers: [any AttemptObserver] = [],
        policy change: (inout RoutePolicy) -> Void
    ) throws(Refusal) {
        try self.init(
            MessageGlue(failure: failure),
            name: name,
            time: time,
            entropy: entropy,
            credentials: credentials,
            observers: observers,
            policy: change
        )
    }

    /// Sends a request through `next`, again where the policy says so, and gives the answer.
    ///
    /// - Parameters:
    ///   - request: what to send; content that is a stream is sent once.
    ///   - isRepeatable: whether the request may be repeated although its method is not idempotent.
    ///   - next: sends one attempt, with the fields that the policy adds.
    /// - Returns: the answer of the last attempt.
    /// - Throws: what the last `next` threw, or a `Failure` of the relay's own.
    public func send(
        _ request: HTTPRequest,
        isRepeatable: Bool = false,
        through next: @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        try await intercept(request, request.body, isRepeatable: isRepeatable) { request, _ in
            try await next(request)
        }
    }
}

/// Messages of RelayKit are known as they are.
private struct MessageGlue: MiddlewareGlue {
    let failure: @Sendable (any Error) -> Failure?

    func method(of head: HTTPRequest) -> Method { head.method }

    func target(of head: HTTPRequest) -> String { head.target }

    func fields(of head: HTTPRequest) -> HeaderFields { head.fields }

    func head(_ head: HTTPRequest, with fields: HeaderFields) -> HTTPRequest {
        var head = head
        head.fields = fields
        return head
    }

    func status(of answer: HTTPResponse) -> Status { answer.status }

    func fields(of answer: HTTPResponse) -> HeaderFields { answer.fields }

    func repeatable(_ body: RelayBase.Body, upTo limit: Int) async throws -> RelayBase.Body? {
        if case .stream = body { nil } else { body }
    }

    func failure(for error: any Error) -> Failure? { failure(error) }

    func answer(_ response: HTTPResponse) -> HTTPResponse? { response }
}
