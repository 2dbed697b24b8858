/// One upstream service as the configuration describes it: where it is, what success is, how to recover.
package final class Route: Sendable {
    package let name: String
    package let policy: RoutePolicy
    /// Whether an answer's body has to be in memory before it can be judged or changed.
    package let inspectsBody: Bool
    /// Fields that make repeating a request safe.
    package let keyFields: [FieldName]
    /// The upstream that serves ordinary attempts while the network is constrained, as an index.
    package let constrainedUpstream: Int?
    /// Whether an upstream is left alone for a while after it failed.
    package let hasCooldowns: Bool
    /// Whether a rule answers with the last good answer.
    package let answersStale: Bool

    package init(name: String, policy: RoutePolicy) {
        self.name = name
        self.policy = policy
        constrainedUpstream = policy.upstreams.firstIndex { $0.use == .whenConstrained }
        hasCooldowns = policy.upstreams.contains { $0.cooldown > .zero }
        answersStale = policy.recovery.contains { if case .respondStale = $0.action { true } else { false } }
        keyFields = [.idempotencyKey, .webhookID] + [FieldName(policy.idempotency.header)].compactMap(\.self)
        inspectsBody =
            policy.apiError != nil || policy.success.inspectsBody || policy.response.unwrap != nil
            || policy.response.expectsJSON || policy.response.empty == .error
    }
}

/// The settings of a route; every property's default is the configuration's.
package struct RoutePolicy: Sendable {
    package var summary = ""
    /// Never empty; the first is the ordinary target.
    package var upstreams: [Upstream]
    package var authentication: Authentication?
    package var timeouts = Timeouts()
    package var concurrency = ConcurrencyLimit()
    package var callers = AllowedCallers()
    /// Attempts of one job, the first included: 1 to 100.
    ///
    /// Attempts that never reached the wire do not count.
    package var maxAttempts = 10
    package var request = RequestRules()
    package var idempotency = IdempotencySettings()
    package var prepare: [PreparationStep] = []
    package var apiError: APIErrorRule?
    package var quickRecovery: [QuickRecoveryRule] = []
    package var success = SuccessRule()
    package var response = ResponseRules()
    package var errorTypes: [ErrorTypeRule] = []
    package var recovery: [RecoveryRule] = []
    package var limits = ResponseLimits()
    package var delivery = DeliveryMode.sync
    /// Whether no failure may reach the caller: the configuration then demands a rule that answers every one, and
    /// one that gets through all the same is counted and reported as a breach.
    package var neverFails = false

    package init(upstreams: [Upstream]) { self.upstreams = upstreams }
}

/// Whether a request is answered when it is done, or kept on disk first.
package enum DeliveryMode: String, CaseIterable, Sendable {
    case sync
    case durable
}

/// Every wait of a job is bounded by one of these.
package struct Timeouts: Sendable {
    /// Look-up, connect and TLS handshake of one attempt.
    package var connect: Duration = .seconds(2)
    /// One attempt, from the first byte to the end of the collected answer, or to its head when it is streamed.
    package var attempt: Duration = .seconds(10)
    /// The longest pause between two bytes of an attempt.
    package var idle: Duration = .seconds(10)
    /// The whole job: all attempts and all waits.
    package var total: Duration = .seconds(30)

    package init() {}
}

/// How many requests of a route may be with the upstream at once.
package struct ConcurrencyLimit: Sendable {
    package var maxRequests = 256
    /// Requests that may wait for a place; one more is answered 503 `overloaded`.
    package var maxPendingRequests = 1024

    package init() {}
}

/// Who may use a route; empty lists allow everyone who can open the socket.
package struct AllowedCallers: Sendable {
    package var users: [UInt32] = []
    package var groups: [UInt32] = []

    package init() {}

    package var isEmpty: Bool { users.isEmpty && groups.isEmpty }

    package func allows(user: UInt32, groups callerGroups: [UInt32]) -> Bool {
        isEmpty || users.contains(user) || callerGroups.contains { groups.contains($0) }
    }
}

/// How requests carry a key that makes repeating them safe.
package struct IdempotencySettings: Sendable {
    /// Field in which the key goes to the upstream.
    package var header = "Idempotency-Key"
    /// Whether a request without a key gets the job's id as its key.
    package var generates = false
    /// Whether the caller's key is passed on.
    package var forwards = true

    package init() {}
}
