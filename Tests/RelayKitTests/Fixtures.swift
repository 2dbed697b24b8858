import RelayJSON
import RelayKit
import RelayTestSupport

/// A strategy that notes its name whenever it is asked; the test answers for it.
struct Advice: RecoveryStrategy {
    typealias Answer = @Sendable (Failure, HTTPRequest, RecoveryContext) async -> RecoveryDisposition

    let name: String
    let log: Log
    let answer: Answer

    init(_ name: String = "advice", _ log: Log = Log(), _ answer: @escaping Answer = { _, _, _ in .passOn }) {
        self.name = name
        self.log = log
        self.answer = answer
    }

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        log.note(name)
        return await answer(failure, request, context)
    }
}

extension RecoveryDisposition {
    /// Sends the request again, changed.
    static func retry(
        _ request: HTTPRequest,
        after wait: Duration = .zero,
        _ change: (inout HTTPRequest) -> Void
    ) -> RecoveryDisposition {
        var changed = request
        change(&changed)
        return .retry(changed, after: wait)
    }
}

extension Prepare {
    /// A step that changes the request.
    static func changing(
        _ phase: PreparationPhase = .attempt,
        _ change: @escaping @Sendable (inout HTTPRequest, PreparationContext) -> Void
    ) -> Prepare {
        Prepare(phase) { request, context in
            var changed = request
            change(&changed, context)
            return changed
        }
    }
}

extension PlainRequest<Book> {
    /// A request for a book.
    static func book(_ path: RequestPath = "r", container: JSONPointer? = nil) -> PlainRequest<Book> {
        Request(.get, path, decoder: ShapeCoder(), container: container)
    }
}

extension PlainRequest<HTTPResponse> {
    /// A request for whatever comes.
    static func plain(_ method: RelayBase.Method = .get) -> PlainRequest<HTTPResponse> {
        Request(method, "x")
    }
}

extension ServiceBench {
    /// How the request ended.
    func run(_ request: PlainRequest<HTTPResponse> = .plain()) async -> PlainOutcome<HTTPResponse> {
        await service.outcome(of: request)
    }

    /// How the request ended, where it failed.
    func failure<Response, ServerError>(of request: Request<Response, ServerError>) async -> Failure? {
        await service.outcome(of: request).failure
    }

    /// Values of one field over all sends, "-" where there was none.
    func sentValues(_ name: FieldName) -> [String] {
        transport.sent.map { ($0.addedFields.values(name) + $0.fields.values(name)).first ?? "-" }
    }
}

/// The refusal of a policy that a service is to be made with; nil where it is taken.
func refusal(
    credentials: [CredentialDefinition] = [],
    _ change: (inout RoutePolicy) -> Void
) -> Refusal? {
    do {
        _ = try ServiceBench([], policy: change, credentials: credentials)
        return nil
    } catch { return error as? Refusal }
}

extension RecoveryRule {
    /// Sends again after a second; counts as a rule of its own.
    static func again(_ maxAttempts: Int = 10, on matcher: FailureMatcher = [.any]) -> RecoveryRule {
        .backoff(
            on: matcher,
            maxAttempts: maxAttempts,
            Backoff(schedule: .constant(.seconds(1)), jitter: .none),
            name: "again"
        )
    }

    /// Asks a strategy that the test answers for.
    static func advice(
        _ name: String = "advice",
        _ log: Log = Log(),
        on matcher: FailureMatcher = [.any],
        methods: RepeatableMethods = .idempotentOrKeyed,
        _ answer: @escaping Advice.Answer = { _, _, _ in .passOn }
    ) -> RecoveryRule {
        .strategy(Advice(name, log, answer), on: matcher, methods: methods)
    }
}
