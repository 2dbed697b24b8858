package import RelayBase

/// One entry of a route's `recovery` list.
public struct RecoveryRule: Sendable {
    /// Stands in the attempt record, the journal and `Proxy-Status`.
    public var name: String
    /// The failures it acts on.
    public var on: FailureMatcher
    package var action: Action
    /// Whether a request that the rule answers goes on as a kept job; only of one that responds.
    package var keepsRequest = false
    /// Whether it only tells what it would do.
    public var reports = false

    package enum Action: Sendable {
        case retry(RetryPolicy)
        /// Fetch a new credential and send again, at most so many times a job; what may have been carried out only
        /// when repeating it is safe.
        case refreshCredentials(maxTimes: Int)
        /// Send to another upstream (index into the route's list); each upstream is entered once a job.
        case failover(upstream: Int, methods: RepeatableMethods = .idempotentOrKeyed)
        case respond(CannedResponse)
        /// Answer with the last good answer to the same request; passes on where none is kept.
        case respondStale
        /// Ask a program's own strategy; `methods` bounds what it may repeat.
        case consult(any RecoveryStrategy, methods: RepeatableMethods)
        /// End the job with the failure as it is.
        case fail
        /// Give a durable job up for an operator to look at; ends any other with its failure.
        case deadLetter
        /// Pause the route and put a durable job aside until it is resumed; ends any other with its failure.
        case pauseRoute(reason: String)
        /// Put a durable job aside until an operator releases it; ends any other with its failure.
        case hold
    }

    package init(name: String, on: FailureMatcher, action: Action) {
        self.name = name
        self.on = on
        self.action = action
    }
}

extension RecoveryRule {
    /// Whether it sends requests again.
    package var repeats: Bool {
        switch action {
        case .retry, .refreshCredentials, .failover, .consult: true
        case .respond, .respondStale, .fail, .deadLetter, .pauseRoute, .hold: false
        }
    }

    /// Whether a kept job that it has acted on may be sent again: at once, or when its route is resumed or it is released.
    package var mayLeadToRepeating: Bool {
        switch action {
        case .pauseRoute, .hold: true
        default: repeats
        }
    }

    /// Whether it repeats requests whose repetition may not be safe.
    var repeatsAny: Bool {
        switch action {
        case .retry(let policy): policy.methods == .any
        case .failover(_, let methods), .consult(_, let methods): methods == .any
        case .refreshCredentials, .respond, .respondStale, .fail, .deadLetter, .pauseRoute, .hold: false
        }
    }

    /// The decisions that the rule may make; those of a program's own strategy are not known before.
    package var words: [Attempt.Next.Word] {
        switch action {
        case .retry: [.retry]
        case .refreshCredentials: [.refreshCredentials]
        case .failover: [.failover]
        case .respond, .respondStale: keepsRequest ? [.respond, .respondAndKeep] : [.respond]
        case .consult: []
        case .fail: [.fail]
        case .deadLetter: [.deadLetter]
        case .pauseRoute: [.pauseRoute]
        case .hold: [.hold]
        }
    }
}

/// Which requests may be sent again that may have been carried out (RFC 9110 §9.2.2): their outcome is unknown, or their
/// answer is a failure that does not say they were refused.
///
/// A request that was never sent, or was refused, may always be sent again.
public enum RepeatableMethods: String, CaseIterable, Sendable {
    /// Those with an idempotent method: GET, HEAD, PUT, DELETE, OPTIONS, TRACE.
    case idempotent
    /// Those, and every request that carries a key by which the upstream recognises it.
    case idempotentOrKeyed = "idempotent_or_keyed"
    /// Every request: the upstream may then do something twice.
    case any

    /// Whether a request with that method, and a key or none, is one of them.
    package func allow(_ method: Method, isKeyed: Bool) -> Bool {
        switch self {
        case .idempotent: method.isIdempotent
        case .idempotentOrKeyed: method.isIdempotent || isKeyed
        case .any: true
        }
    }
}

/// When to send again.
package struct RetryPolicy: Sendable {
    /// Attempts this rule may bring a job to, the first included: 3 means two retries.
    ///
    /// 1 to 100.
    package var maxAttempts = 3
    package var backoff = Backoff()
    /// Whether the upstream's `Retry-After` replaces a shorter backoff.
    package var honorsRetryAfter = true
    /// The longest wait a `Retry-After` can cause.
    package var maxRetryAfter: Duration = .seconds(60)
    /// Which requests may be repeated when the last attempt may have been carried out.
    package var methods = RepeatableMethods.idempotentOrKeyed

    package init() {}
}

/// An answer the relay gives in the upstream's stead.
package struct CannedResponse: Sendable {
    package var source: StandIn
    package var status: Status
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]

    package init(source: StandIn, status: Status, fields: [(name: String, value: String)], body: [UInt8]) {
        self.source = source
        self.status = status
        self.fields = fields
        self.body = body
    }
}
