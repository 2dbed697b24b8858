import RelayBase
import RelayRoute
import Synchronization

/// A client's request on its way, with what came of its last attempt.
final class MiddlewareCall<Head: Sendable, Body: Sendable, Answer: Sendable>: AttemptSending {
    private let glue: any MiddlewareGlue<Head, Body, Answer>
    private let head: Head
    /// Below the upstream's base.
    private let target: String
    private let body: Body
    /// Nil once the caller has its answer: the client lends it until then.
    private let next: Mutex<(@Sendable (Head, Body) async throws -> Answer)?>
    private let latest = Mutex<(attempt: Int, result: Result<Answer, any Error>?)>((0, nil))

    init(
        _ glue: any MiddlewareGlue<Head, Body, Answer>,
        _ head: Head,
        _ target: String,
        _ body: Body,
        _ next: @escaping @Sendable (Head, Body) async throws -> Answer
    ) {
        self.glue = glue
        self.head = head
        self.target = target
        self.body = body
        self.next = Mutex(next)
    }

    func attemptBegan(_ number: Int) { latest.withLock { $0 = (number, nil) } }

    /// The answer or the error of that attempt; nil when it was not the last that began, was not sent or was given up.
    func result(of attempt: Int?) -> Result<Answer, any Error>? {
        latest.withLock { $0.attempt == attempt ? $0.result : nil }
    }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        latest.withLock { $0.result = nil }
        guard isOwn(request) else {
            throw Failure(
                .preparation,
                sent: .neverSent,
                "a middleware sends its client's request, and the attempt has another method, target or content"
            )
        }
        guard let next = next.withLock({ $0 }) else {
            throw Failure(.preparation, sent: .neverSent, "the client's request is over")
        }
        do {
            let answer = try await next(glue.head(head, with: fields(of: request)), body)
            latest.withLock { $0.result = .success(answer) }
            let response = HTTPResponse(status: glue.status(of: answer), fields: glue.fields(of: answer))
            return InboundResponse(response: response, exchange: Exchange())
        } catch {
            latest.withLock { $0.result = .failure(error) }
            if Task.isCancelled || error is CancellationError {
                throw Failure(.cancelled, sent: .unknown, "the client was cancelled")
            }
            throw glue.failure(for: error)
                ?? Failure("client_error", sent: .unknown, "the client failed with \(type(of: error))")
        }
    }

    /// Lets go of the client, also where something that was begun for the request still runs, such as a fetch of a token.
    func end() { next.withLock { $0 = nil } }

    func giveUp() { latest.withLock { $0.result = nil } }

    /// Whether the client's head and body are what the attempt is to send: they go out whatever it asks for.
    private func isOwn(_ request: OutboundRequest) -> Bool {
        if case .bytes = request.body { return false }
        return request.method == glue.method(of: head) && request.target == request.upstream.basePath + target
    }

    /// The fields of the attempt; a client names itself, if it wants to.
    private func fields(of request: OutboundRequest) -> HeaderFields {
        var fields = request.allFields
        if !glue.fields(of: head).contains(.userAgent) { fields.remove(.userAgent) }
        return fields
    }
}

/// A mark that is set once.
final class ReadMark: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
