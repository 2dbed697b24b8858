/// Sends one attempt and reports exactly one of: a response, or a failure with a `sent` verdict.
///
/// Cancelling the task closes the attempt: the call then throws `cancelled`.
public protocol Transport: AnyObject, Sendable {
    /// Sends one attempt and waits for the answer's head.
    ///
    /// - Returns: the answer; its content may still be on the way.
    /// - Throws: why there is no answer, with how far the request got in ``Failure/sent``.
    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse
}

/// One attempt, complete: nothing is added to it but `Host` and framing.
public final class OutboundRequest: Sendable {
    /// Where it goes.
    public let upstream: Upstream
    /// The method.
    public let method: Method
    /// Origin form with the upstream's base path: `/api/orders/7?full=1`.
    public let target: String
    /// The request's own end-to-end fields.
    public let fields: HeaderFields
    /// Fields that follow `fields`: what the relay adds, so that the caller's need no copy.
    public let addedFields: HeaderFields
    /// The content.
    public let body: Body
    /// The moment by which the response head must be there, and its body while it is collected.
    public let deadline: Instant
    /// The waits inside the attempt.
    public let timeouts: AttemptTimeouts
    /// What the answer may cost.
    public let limits: ResponseLimits

    /// Puts an attempt together; for transports that pass a changed attempt on to another.
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

    /// Takes both waits, above zero each.
    public init(connect: Duration, idle: Duration) {
        self.connect = connect
        self.idle = idle
    }
}

/// What a response may cost.
public struct ResponseLimits: Sendable {
    /// Status line and fields together, in bytes; 64 KiB unless set.
    public var head: Int = 65_536
    /// Fields; 200 unless set.
    public var fieldCount: Int = 200
    /// Decoded bytes of a body that is collected; streamed bodies are not held, so not limited.
    ///
    /// 16 MiB unless set.
    public var body: Int = 16 * 1_048_576
    /// Decoded bytes for each byte received, once 64 KiB have been decoded; 100 unless set.
    public var expansion: Int = 100
    /// Whether gzip and deflate content is decoded on arrival; the coding field is then removed.
    ///
    /// False unless set.
    public var decodesContent = false

    /// The defaults of every property.
    public init() {}
}

/// The answer to one attempt.
public struct InboundResponse: Sendable {
    /// Head and content.
    public var response: HTTPResponse
    /// Where the attempt went and what it took.
    public var exchange: Exchange

    /// Pairs an answer with the facts of its exchange.
    public init(response: HTTPResponse, exchange: Exchange) {
        self.response = response
        self.exchange = exchange
    }
}
