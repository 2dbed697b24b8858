package import RelayBase

/// The waits inside one attempt; one beyond 292 years counts as that.
public struct AttemptTimeouts: Sendable {
    private var connectNanoseconds: Int64
    package private(set) var idleNanoseconds: Int64
    /// Bytes a second that content has to move at, either way, on the average; 0 for any pace.
    public var minRate = 0
    /// The limit that sets both waits, for messages; nil for the route's `timeouts`.
    package var source: LimitName?

    /// Takes both waits, above zero each.
    public init(connect: Duration, idle: Duration) {
        connectNanoseconds = connect.saturatedNanoseconds
        idleNanoseconds = idle.saturatedNanoseconds
    }

    /// Name look-up, connect and TLS handshake together.
    public var connect: Duration {
        get { .nanoseconds(connectNanoseconds) }
        set { connectNanoseconds = newValue.saturatedNanoseconds }
    }

    /// The longest pause between two bytes, either way.
    public var idle: Duration {
        get { .nanoseconds(idleNanoseconds) }
        set { idleNanoseconds = newValue.saturatedNanoseconds }
    }
}

/// The bounds on what a response may cost.
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
