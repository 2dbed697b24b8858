/// One entry of a route's `recovery` list.
public struct RecoveryRule: Sendable {
    /// Stands in the attempt record, the journal and `Proxy-Status`.
    public var name: String
    public var on: FailureMatcher
    public var action: Action

    public enum Action: Sendable {
        case retry(RetryPolicy)
        /// Fetch a new credential and send again, at most so many times a job.
        case refreshCredentials(maxTimes: Int)
        /// Send to another upstream (index into the route's list); each upstream is entered once a job.
        case failover(upstream: Int)
        case respond(CannedResponse)
        /// Answer with the last good answer to the same request; passes on where none is kept.
        case respondStale
        /// Ask a program's own strategy; `methods` bounds what it may repeat.
        case consult(any RecoveryStrategy, methods: RetryPolicy.Methods)
        /// End the job with the failure as it is.
        case fail
    }

    public init(name: String, on: FailureMatcher, action: Action) {
        self.name = name
        self.on = on
        self.action = action
    }
}

/// When to send again.
public struct RetryPolicy: Sendable {
    public enum Methods: String, CaseIterable, Sendable {
        case idempotent
        case idempotentOrKeyed = "idempotent_or_keyed"
        case any
    }

    /// Attempts this rule may bring a job to, the first included: 3 means two retries.
    ///
    /// 1 to 100.
    public var maxAttempts = 3
    public var backoff = Backoff()
    /// Whether the upstream's `Retry-After` replaces a shorter backoff.
    public var honorsRetryAfter = true
    /// The longest wait a `Retry-After` can cause.
    public var maxRetryAfter: Duration = .seconds(60)
    /// Which requests may be repeated when the outcome of the last attempt is unknown.
    public var methods = Methods.idempotentOrKeyed

    public init() {}
}

/// An answer the relay gives in the upstream's stead.
public struct CannedResponse: Sendable {
    public enum Source: String, CaseIterable, Sendable {
        case fallback
        case placeholder
        case stale
    }

    public var source: Source
    public var status: Status
    public var fields: [(name: String, value: String)]
    public var body: [UInt8]

    public init(source: Source, status: Status, fields: [(name: String, value: String)], body: [UInt8]) {
        self.source = source
        self.status = status
        self.fields = fields
        self.body = body
    }
}
