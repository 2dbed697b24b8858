/// One entry of a route's `recovery` list.
package struct RecoveryRule: Sendable {
    /// Stands in the attempt record, the journal and `Proxy-Status`.
    package var name: String
    package var on: FailureMatcher
    package var action: Action

    package enum Action: Sendable {
        case retry(RetryPolicy)
        /// Fetch a new credential and send again, at most so many times a job.
        case refreshCredentials(maxTimes: Int)
        /// Send to another upstream (index into the route's list); each upstream is entered once a job.
        case failover(upstream: Int)
        case respond(CannedResponse)
        /// Answer with the last good answer to the same request; passes on where none is kept.
        case respondStale
        /// End the job with the failure as it is.
        case fail
    }

    package init(name: String, on: FailureMatcher, action: Action) {
        self.name = name
        self.on = on
        self.action = action
    }
}

/// When to send again.
package struct RetryPolicy: Sendable {
    package enum Methods: String, CaseIterable, Sendable {
        case idempotent
        case idempotentOrKeyed = "idempotent_or_keyed"
        case any
    }

    /// Attempts this rule may bring a job to, the first included: 3 means two retries.
    ///
    /// 1 to 100.
    package var maxAttempts = 3
    package var backoff = Backoff()
    /// Whether the upstream's `Retry-After` replaces a shorter backoff.
    package var honorsRetryAfter = true
    /// The longest wait a `Retry-After` can cause.
    package var maxRetryAfter: Duration = .seconds(60)
    /// Which requests may be repeated when the outcome of the last attempt is unknown.
    package var methods = Methods.idempotentOrKeyed

    package init() {}
}

/// An answer the relay gives in the upstream's stead.
package struct CannedResponse: Sendable {
    package enum Source: String, CaseIterable, Sendable {
        case fallback
        case placeholder
        case stale
    }

    package var source: Source
    package var status: Status
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]

    package init(source: Source, status: Status, fields: [(name: String, value: String)], body: [UInt8]) {
        self.source = source
        self.status = status
        self.fields = fields
        self.body = body
    }
}
