import RelayBase
import RelayRoute
import Synchronization

/// A client's request on its way, with what came of its last attempt.
final class MiddlewareCall<Head: Sendable, Body: Sendable, Answer: Sendable>: AttemptSending {
    private let glue: any MiddlewareGlue<Head, Body, Answer>
    private let head: Head
    private let body: Body
    private let next: @Sendable (Head, Body) async throws -> Answer
    private let result = Mutex<Result<Answer, any Error>?>(nil)

    init(
        _ glue: any MiddlewareGlue<Head, Body, Answer>,
        _ head: Head,
        _ body: Body,
        _ next: @escaping @Sendable (Head, Body) async throws -> Answer
    ) {
        self.glue = glue
        self.head = head
        self.body = body
        self.next = next
    }

    /// The answer or the error of the last attempt; nil when none was sent, or it was given up.
    var last: Result<Answer, any Error>? { result.withLock { $0 } }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        result.withLock { $0 = nil }
        do {
            let answer = try await next(glue.head(head, with: fields(of: request)), body)
            result.withLock { $0 = .success(answer) }
            let response = HTTPResponse(status: glue.status(of: answer), fields: glue.fields(of: answer))
            return InboundResponse(response: response, exchange: Exchange())
        } catch {
            result.withLock { $0 = .failure(error) }
            if Task.isCancelled || error is CancellationError {
                throw Failure(.cancelled, sent: .unknown, "the client was cancelled")
            }
            throw glue.failure(for: error)
                ?? Failure("client_error", sent: .unknown, "the client failed with \(type(of: error))")
        }
    }

    func giveUp() { result.withLock { $0 = nil } }

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
