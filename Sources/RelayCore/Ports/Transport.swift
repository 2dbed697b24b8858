/// Sends one attempt and reports exactly one of: a response, or a failure with a `sent` verdict.
///
/// Cancelling the task closes the attempt: the call then throws `cancelled`.
public protocol Transport: AnyObject, Sendable {
    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse
}

/// One attempt, complete: nothing is added to it but `Host` and framing.
public final class OutboundRequest: Sendable {
    public let upstream: Upstream
    public let method: Method
    /// Origin form with the upstream's base path: `/api/orders/7?full=1`.
    public let target: String
    public let fields: HeaderFields
    /// Fields that follow `fields`: what the relay adds, so that the caller's need no copy.
    public let addedFields: HeaderFields
    public let body: Body
    /// The moment by which the response head must be there, and its body while it is collected.
    public let deadline: Instant
    public let timeouts: AttemptTimeouts
    public let limits: ResponseLimits

    public init(
        upstream: Upstream,
        method: Method,
        target: String,
        fields: HeaderFields,
        addedFields: HeaderFields = HeaderFields(),
        body: Body,
        deadline: Instant,
        timeouts: AttemptTimeouts,
        limits: ResponseLimits
    ) {
        self.upstream = upstream
        self.method = method
        self.target = target
        self.fields = fields
        self.addedFields = addedFields
        self.body = body
        self.deadline = deadline
        self.timeouts = timeouts
        self.limits = limits
    }
}

/// The waits inside one attempt.
public struct AttemptTimeouts: Sendable {
    /// Name look-up, connect and TLS handshake together.
    public var connect: Duration
    /// The longest pause between two bytes, either way.
    public var idle: Duration

    public init(connect: Duration, idle: Duration) {
        self.connect = connect
        self.idle = idle
    }
}

/// What a response may cost.
public struct ResponseLimits: Sendable {
    /// Status line and fields together, in bytes.
    public var head: Int = 65_536
    /// Fields.
    public var fieldCount: Int = 200
    /// Decoded bytes of a body that is collected; streamed bodies are not held, so not limited.
    public var body: Int = 16 * 1_048_576
    /// Decoded bytes for each byte received, once 64 KiB have been decoded.
    public var expansion: Int = 100
    /// Whether gzip and deflate content is decoded on arrival; the coding field is then removed.
    public var decodesContent = false

    public init() {}
}

/// The answer to one attempt.
public struct InboundResponse: Sendable {
    public var response: HTTPResponse
    public var exchange: Exchange

    public init(response: HTTPResponse, exchange: Exchange) {
        self.response = response
        self.exchange = exchange
    }
}
