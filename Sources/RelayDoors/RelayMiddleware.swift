public import RelayBase
public import RelayKit
public import RelayRoute

/// Recovery for a client that a program has already: fresh tokens, waits, a retry budget and a circuit breaker around its
/// own sending, in the shape of the ecosystem's client middlewares.
///
/// ```swift
/// try await relay.intercept(request, body) { request, body in
///     try await next(request, body, baseURL)
/// }
/// ```
///
/// A middleware is made once and shared. It runs on the same machine as `RelayService`: its rules, its verdicts and its
/// order. What differs is the content of messages, which belongs to the client:
///
/// * An answer counts by its head. As soon as the head of one that needs no recovery is there it is handed on, and what
///   its content does later is recovered by nobody.
/// * Content that can be read once is sent once, unless the glue makes it repeatable.
/// * An error of `next` leaves open how far the request got, unless the glue says more.
///
/// Where recovery ends without success, the caller gets what it would have got without the middleware: the last answer
/// as it came, or the last error of `next`. A failure of the relay's own, an open breaker or a token that could not be
/// fetched, is thrown as a `Failure`. Cancelling the task cancels `next`.
public struct RelayMiddleware<Head: Sendable, Body: Sendable, Answer: Sendable>: Sendable {
    private let glue: any MiddlewareGlue<Head, Body, Answer>
    private let service: RelayService
    private let collectLimit: Int

    /// Makes a middleware.
    ///
    /// - Parameters:
    ///   - glue: what to know of the client's types.
    ///   - name: stands in messages and contexts.
    ///   - collectLimit: bytes of content that the glue may collect, so that it can be sent again.
    ///   - time: the clocks and every wait.
    ///   - entropy: jitter and job ids.
    ///   - credentials: what the policy's `authentication` names; a token comes from the program's own code.
    ///   - observers: told about every request, in order.
    ///   - change: sets the policy; its one upstream is the client itself.
    /// - Throws: why the policy cannot hold what it promises.
    public init(
        _ glue: some MiddlewareGlue<Head, Body, Answer>,
        name: String = "client",
        collecting collectLimit: Int = 1_048_576,
        time: any TimeSource = ProgramTime(),
        entropy: any Entropy = ProgramEntropy(),
        credentials: [CredentialDefinition] = [],
        observers: [any AttemptObserver] = [],
        policy change: (inout RoutePolicy) -> Void
    ) throws(Refusal) {
        var policy = RoutePolicy(upstreams: [try Upstream("https://client.invalid/", name: name)])
        change(&policy)
        try policy.checkForMiddleware(credentials)
        self.glue = glue
        self.collectLimit = collectLimit
        service = try RelayService(
            policy,
            name: name,
            transport: DoorTransport(time: time),
            time: time,
            entropy: entropy,
            credentials: credentials,
            observers: [CallObserver()] + observers
        )
    }

    /// Sends a request through `next`, again where the policy says so, and gives the answer.
    ///
    /// - Parameters:
    ///   - head: the request without its content.
    ///   - body: its content.
    ///   - isRepeatable: whether the request may be repeated although its method is not idempotent.
    ///   - next: sends one attempt.
    /// - Returns: the answer of the last attempt.
    /// - Throws: what the last `next` threw, or a `Failure` of the relay's own.
    public func intercept(
        _ head: Head,
        _ body: Body,
        isRepeatable: Bool = false,
        next: @Sendable (Head, Body) async throws -> Answer
    ) async throws -> Answer {
        let repeatable = try await glue.repeatable(body, upTo: collectLimit)
        return try await withoutActuallyEscaping(next) { next in
            let target = pathAndQuery(glue.target(of: head))
            let call = MiddlewareCall(glue, head, target, repeatable ?? body, next)
            defer { call.end() }
            var fields = HeaderFields()
            for (name, value) in glue.fields(of: head).pairs { fields.append(name, value) }
            let http = HTTPRequest(
                method: glue.method(of: head),
                target: target,
                fields: fields,
                body: repeatable == nil ? .stream(ContentOnce()) : .empty
            )
            var request = PlainRequest<HTTPResponse>(http) { $0.response }
            request.options.isRepeatable = isRepeatable
            let outcome = await DoorTransport.$call.withValue(call) { [request] in
                await service.outcome(of: request)
            }
            return try answer(call.result(of: outcome.attempts.last?.number), outcome)
        }
    }

    private func answer(
        _ last: Result<Answer, any Error>?,
        _ outcome: PlainOutcome<HTTPResponse>
    ) throws -> Answer {
        if let response = outcome.value, outcome.source != .upstream {
            if let made = glue.answer(response) { return made }
            throw Failure(
                .preparation,
                sent: .answered,
                "the client's glue makes no answer of a rule's response"
            )
        }
        // The last answer or error is the caller's, unless the relay itself ended the request after it.
        if let last, outcome.failure == nil || outcome.attempts.last?.failure?.kind == outcome.failure?.kind {
            return try last.get()
        }
        if outcome.failure?.kind == .cancelled { throw CancellationError() }
        throw outcome.failure ?? Failure(.preparation, sent: .neverSent, "the request was not sent")
    }
}

/// Tells each request of its attempts.
private struct CallObserver: AttemptObserver {
    func attemptBegan(_ attempt: Attempt, of job: RunningJob) {
        DoorTransport.call?.attemptBegan(attempt.number)
    }
}

/// The path and query below the client's base of a target that may be a whole URL; empty where a segment leads elsewhere,
/// which is the client's to send or to refuse.
private func pathAndQuery(_ target: String) -> String {
    var bytes = Array(target.utf8.prefix { $0 != UInt8(ascii: "#") })[...]
    let slash = UInt8(ascii: "/")
    if bytes.first != slash, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
        bytes = bytes[colon...].dropFirst(3).drop { $0 != slash }
    }
    bytes = bytes.drop { $0 == slash }
    let path = bytes.prefix { $0 != UInt8(ascii: "?") }
    let leads = path.split(separator: slash).contains {
        $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
    }
    return leads ? "" : String(decoding: bytes, as: UTF8.self)
}

extension RoutePolicy {
    /// Refuses what a middleware, which sees heads alone and sends through its client, cannot hold.
    fileprivate func checkForMiddleware(_ credentials: [CredentialDefinition]) throws(Refusal) {
        if upstreams.count != 1 {
            throw Refusal("a middleware has one upstream, its client", hint: "leave upstreams as they are")
        }
        let success = success
        let readsContent =
            apiError != nil || !success.require.isEmpty || !success.fail.isEmpty || response.unwrap != nil
            || response.expectsJSON || response.keepsLastGood != nil || response.empty == .error
        if readsContent {
            throw Refusal(
                "a middleware hands on content unread, and the policy looks into it",
                hint: "judge content where the client decodes it"
            )
        }
        if response.redirects == .follow {
            throw Refusal(
                "a middleware sends its client's request and no other, and response.redirects follows to another target",
                hint: "leave redirects to the client"
            )
        }
        if hedging != nil {
            throw Refusal(
                "a middleware sends its client's request once at a time, and hedging sends it beside itself",
                hint: "leave hedging nil"
            )
        }
        if verification != nil {
            throw Refusal(
                "a middleware sends its client's request and no other, and verification asks the upstream about it",
                hint: "leave verification nil, and ask in the program's own code"
            )
        }
        if constrained != .send || lightRequest != nil {
            throw Refusal(
                "a middleware knows nothing of the network, and the policy treats a constrained one",
                hint: "leave constrained and lightRequest as they are"
            )
        }
        let changes =
            signing != nil || request.wrap != nil || !request.query.parameters.isEmpty
            || !quickRecovery.isEmpty
        if changes {
            throw Refusal(
                "a middleware sends its client's target and content as they are, and the policy changes or signs them",
                hint: "do it in the program's own code"
            )
        }
        for credential in credentials {
            if case .custom = credential.kind { continue }
            throw Refusal(
                "a middleware sends nothing but its client's requests, and credential \(credential.name) asks for a token",
                hint: "fetch the token in the program's own code: CredentialDefinition(name) { … }"
            )
        }
    }
}
