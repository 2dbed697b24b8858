/// Sends one attempt and reports exactly one of: a response, or a failure with a `sent` verdict.
///
/// Cancelling the task closes the attempt: the call then throws `cancelled`.
package protocol Transport: AnyObject, Sendable {
    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse
}

/// One attempt, complete: nothing is added to it but `Host` and framing.
package final class OutboundRequest: Sendable {
    package let upstream: Upstream
    package let method: Method
    /// Origin form with the upstream's base path: `/api/orders/7?full=1`.
    package let target: String
    package let fields: HeaderFields
    /// Fields that follow `fields`: what the relay adds, so that the caller's need no copy.
    package let addedFields: HeaderFields
    package let body: Body
    /// The moment by which the response head must be there, and its body while it is collected.
    package let deadline: Instant
    package let timeouts: AttemptTimeouts
    package let limits: ResponseLimits

    package init(
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
package struct AttemptTimeouts: Sendable {
    /// Name look-up, connect and TLS handshake together.
    package var connect: Duration
    /// The longest pause between two bytes, either way.
    package var idle: Duration

    package init(connect: Duration, idle: Duration) {
        self.connect = connect
        self.idle = idle
    }
}

/// What a response may cost.
package struct ResponseLimits: Sendable {
    /// Status line and fields together, in bytes.
    package var head: Int = 65_536
    /// Fields.
    package var fieldCount: Int = 200
    /// Decoded bytes of a body that is collected; streamed bodies are not held, so not limited.
    package var body: Int = 16 * 1_048_576
    /// Decoded bytes for each byte received, once 64 KiB have been decoded.
    package var expansion: Int = 100
    /// Whether gzip and deflate content is decoded on arrival; the coding field is then removed.
    package var decodesContent = false

    package init() {}
}

/// The answer to one attempt.
package struct InboundResponse: Sendable {
    package var response: HTTPResponse
    package var exchange: Exchange

    package init(response: HTTPResponse, exchange: Exchange) {
        self.response = response
        self.exchange = exchange
    }
}
