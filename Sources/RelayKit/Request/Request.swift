public import RelayBase

/// A request and what its answer means: one value that says how to send, recover, validate, decode and fail.
///
/// A request is a value. A request derived from it, by `map`, `throwing` or a change of its content,
/// carries every other setting along.
///
/// `ServerError` is the error its caller gets: ``Failure`` unless the request names a type of the program's own. No
/// call spells it, ``PlainRequest`` is short for it in signatures, and `throwing` gives a request another.
///
/// ```swift
/// let book: Book = try await service.execute(Request(.get, "books/7"))
/// func page(_ number: Int) -> PlainRequest<Page> { Request(.get, "pages/\(number)") }
/// func order(_ number: Int) -> Request<Order, ShopError> { Request(.get, "orders/\(number)") }
/// ```
public struct Request<Response: Sendable, ServerError: FailureInitializable>: Sendable {
    /// The HTTP request that is sent.
    public var http: HTTPRequest
    /// The terms that this request asks for besides its answer; only ever tighter than the service's.
    public var options = RequestOptions()
    /// Steps of preparation of this request alone; they follow the service's.
    public var preparation: [any PreparationStrategy] = []
    /// Asked after every attempt that had no answer, or one that its status or its error document makes a failure, and
    /// before any rule: the success the failure is after all, or nil.
    ///
    /// Not asked about an answer that did not pass validation or could not be transformed. Spends no attempt. The
    /// failure has no response when none came. Neither `successValidator` nor error documents
    /// look at what it returns, and when that cannot be transformed, the job ends without asking a rule.
    public var quickRecovery: @Sendable (TransportFailure) -> HTTPResponse? = { _ in nil }
    /// Looks at every answer that counts as a success, before it is transformed; what it throws is the outcome of the
    /// attempt and is offered to the rules.
    public var successValidator: @Sendable (TransportSuccess) throws -> Void = { _ in }
    /// Whether `successValidator` looks at quick-recovered answers too; false unless it is set.
    public var validatesQuickRecovery = false
    /// Reads an upstream's error document on any status: what it returns is the failure of an answer that is one.
    public var errorDocument: ErrorDocument?
    /// Names a failure before the rules read it; `throwing` changes what the caller gets.
    public var classify: @Sendable (Failure) -> Failure = { $0 }
    /// The value a failed job ends with all the same, tagged as a placeholder; nil lets the failure through.
    ///
    /// Asked once, after all recovery, and never after a cancellation.
    public var placeholder: @Sendable (Failure) -> Response? = { _ in nil }
    var transform: @Sendable (TransportSuccess) throws -> Response
    var mapFailure: @Sendable (Failure) -> Failure = { $0 }
    /// Makes the caller's error of what `mapFailure` has made of the failure; nil leaves it to the type's own way.
    var makeError: (@Sendable (Failure) -> ServerError)?
    /// The media type that came with the content and stands among the fields; nil when a header says one, or nobody.
    var contentMediaType: String?
    /// Writes the content with a service's encoder, unless somebody has put other content in its place.
    var encoding: ContentEncoding?
    /// Why the request cannot be sent: a header that no message can carry.
    var headerFlaw: Failure?
    /// Why the request cannot be sent: a path that leads elsewhere.
    var pathFlaw: Failure?
    /// Why the request cannot be sent: content that the service's encoder does not take.
    var contentFlaw: Failure?

    /// A request whose answers `transform` turns into values.
    ///
    /// - Parameters:
    ///   - http: what is sent.
    ///   - transform: called for each answer that counts as a success; a `Failure` it throws is taken as it is, any
    ///     other error becomes a failure of the kind `decoding`.
    public init(_ http: HTTPRequest, transform: @escaping @Sendable (TransportSuccess) throws -> Response) {
        self.init(message: http, transform)
    }

    init(message: HTTPRequest, _ transform: @escaping @Sendable (TransportSuccess) throws -> Response) {
        http = message
        self.transform = transform
    }
}

/// A request whose caller gets its ``Failure`` as it is.
public typealias PlainRequest<Response: Sendable> = Request<Response, Failure>

/// The terms that one request asks for besides its answer; only ever tighter than the service's.
public struct RequestOptions: Sendable {
    /// Replaces the policy's `timeouts.total` when shorter: the time of all attempts and waits together.
    public var timeout: Duration?
    /// Replaces the policy's `timeouts.attempt` when shorter.
    public var attemptTimeout: Duration?
    /// Replaces the policy's `maxAttempts` when lower; the first attempt counts.
    ///
    /// One above it asks for nothing: a service may be stricter than the writer of a request knows.
    public var maxAttempts: Int?
    /// False keeps failover, placeholders and stale answers from acting.
    public var allowsFallback = true
    /// Whether the request may be repeated although its method is not idempotent (RFC 9110 §9.2.2), because the
    /// upstream recognises it.
    public var isRepeatable = false

    /// Asks for nothing.
    public init() {}
}
