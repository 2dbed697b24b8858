public import RelayBase
package import RelayJSON

/// One upstream service as the configuration describes it: where it is, what success is, how to recover.
package final class Route: Sendable {
    package let name: String
    package let policy: RoutePolicy
    /// Whether an answer's body has to be in memory before it can be judged or changed.
    package let inspectsBody: Bool
    /// Where the content of an answer is looked into: those of `success.fail`, of `success.require`, and `unwrap`.
    package let inspected: [JSONPointer]
    /// The field under which the upstream looks for the key of a request.
    package let keyField: FieldName
    /// Fields that make repeating a request safe.
    package let keyFields: [FieldName]
    /// The upstream that serves ordinary attempts while the network is constrained, as an index.
    package let constrainedUpstream: Int?
    /// Whether a constrained network changes anything for its requests, whatever they ask for.
    package let mindsNetwork: Bool
    /// Whether an upstream is left alone for a while after it failed.
    package let hasCooldowns: Bool
    /// Whether answers that stream are looked at as they come.
    package let holdsHeads: Bool
    /// Whether requests that are late are sent a second time.
    package let hedges: Bool
    /// Whether a rule answers with the last good answer.
    package let answersStale: Bool
    /// Whether a rule that responds keeps the request.
    package let keepsRequests: Bool
    /// The rules for jobs that are kept.
    package let deliveryRules: [RecoveryRule]
    /// Whether one of those repeats requests whose repetition may not be safe.
    package let repeatsAny: Bool
    /// Upstreams, as indices, where rules lead whose own has an open breaker, or has asked for patience.
    package let failovers: (open: [Int], throttled: [Int])
    /// The longest that one answer holds an upstream back; nil when none does.
    package let longestHold: Duration?
    /// That of holds that are only told of.
    package let reportedHold: Duration?
    /// Whether nothing bounds, spaces or stops its attempts.
    package let isWithoutTraffic: Bool
    /// How the upstream is asked about requests in doubt; nil where it is not.
    package let lookUp: LookUpRules?
    /// How operations are followed that the upstream begins; nil where they are not.
    package let follow: FollowRules?
    /// Whether one of the two has questions of the relay's own for the upstream.
    package let asks: Bool
    /// The spacing of its attempts; nil where nothing bounds their rate.
    package let spacing: RateSpacing?
    /// That of a rate that is only told of.
    package let reportedSpacing: RateSpacing?
    /// The parts of its traffic that only tell what they would do.
    package let reporting: TrafficParts

    package init(name: String, policy: RoutePolicy) {
        self.name = name
        self.policy = policy
        constrainedUpstream = policy.upstreams.firstIndex { $0.use == .whenConstrained }
        mindsNetwork = constrainedUpstream != nil || policy.constrained != .send
        holdsHeads = policy.response.stream != nil
        hedges = policy.hedging != nil
        hasCooldowns = policy.upstreams.contains { $0.cooldown > .zero }
        let acting = policy.recovery.filter { !$0.reports }
        answersStale = acting.contains { if case .respondStale = $0.action { true } else { false } }
        keepsRequests = acting.contains(where: \.keepsRequest)
        deliveryRules = policy.deliversLater ? policy.recovery + [.deliverLater] : policy.recovery
        repeatsAny = acting.contains(where: \.repeatsAny)
        reporting = policy.traffic.reporting
        let hold =
            policy.traffic.throttling.isEnabled
            ? policy.traffic.throttling.longest ?? policy.longestWait : nil
        longestHold = reporting.contains(.throttling) ? nil : hold
        reportedHold = reporting.contains(.throttling) ? hold : nil
        isWithoutTraffic = policy.traffic.isOff
        let rate = policy.traffic.rateLimit?.spacing
        spacing = reporting.contains(.rate) ? nil : rate
        reportedSpacing = reporting.contains(.rate) ? rate : nil
        lookUp = policy.verification.map { LookUpRules($0, of: name, policy) }
        follow = policy.following.map { FollowRules($0, of: name, policy) }
        asks = lookUp != nil || follow != nil
        failovers = (policy.failovers(after: .breakerOpen), policy.failovers(after: .rateLimited))
        keyField = FieldName(policy.idempotency.header) ?? .idempotencyKey
        keyFields = [.idempotencyKey, .webhookID] + (keyField == .idempotencyKey ? [] : [keyField])
        inspected =
            policy.success.fail.map(\.check.pointer) + policy.success.require.map(\.pointer)
            + [policy.response.unwrap].compactMap(\.self)
        inspectsBody = policy.inspectsBody
    }

    /// The same route with the secrets its requests carry.
    package func resolved(_ secrets: [SecretReference: Secret]) -> Route {
        guard !policy.request.query.parameters.isEmpty else { return self }
        var policy = policy
        policy.request.query = policy.request.query.resolved(secrets)
        return Route(name: name, policy: policy)
    }
}

/// The settings of a route; every property's default is the configuration's.
public struct RoutePolicy: Sendable {
    package var summary = ""
    /// Never empty; the first is the ordinary target.
    public var upstreams: [Upstream]
    /// The credential every attempt carries; nil sends none.
    public var authentication: Authentication?
    /// The bounds of every wait.
    public var timeouts = Timeouts()
    package var concurrency = ConcurrencyLimit()
    /// The means that keep requests from making an upstream's trouble worse; all are on but for the rate limit.
    public var traffic = TrafficSettings()
    /// When it sends nothing, as planned; nil leaves it open.
    package var closed: ClosedTimes?
    package var callers = AllowedCallers()
    /// Attempts of one job, the first included: 1 to 100.
    ///
    /// Attempts that never reached the wire do not count, but for a bound of their own: a job makes 100 of them at most.
    public var maxAttempts = 10
    package var request = RequestRules()
    /// How requests carry a key that makes repeating them safe.
    public var idempotency = IdempotencySettings()
    package var prepare: [PreparationStep] = []
    /// The form of the upstream's error documents; nil looks for none.
    ///
    /// `Request.errorDocument` of RelayKit reads one into a type of the program's own.
    public var apiError: APIErrorRule?
    package var quickRecovery: [QuickRecoveryRule] = []
    /// The conditions for an answer to count as a success.
    public var success = SuccessRule()
    /// The rules for an answer that counts as one.
    public var response = ResponseRules()
    /// Names for failures, given before the rules read them; the first that matches counts.
    public var errorTypes: [ErrorTypeRule] = []
    /// The rules for what follows a failed attempt: read from the top after every one, the first that acts decides.
    ///
    /// Empty recovers from nothing.
    public var recovery: [RecoveryRule] = []
    /// How the upstream is asked what became of a request in doubt before it is sent again; nil asks nothing.
    public var verification: Verification? {
        get { verifications.first }
        set { verifications = newValue.map { [$0] } ?? [] }
    }
    /// One at most: of a struct in place each copy of a policy would have the parts.
    private var verifications: [Verification] = []
    /// How operations are followed that the upstream begins; nil takes what begins one for its end.
    public var following: Following? {
        get { followings.first }
        set { followings = newValue.map { [$0] } ?? [] }
    }
    /// One at most, likewise.
    private var followings: [Following] = []
    /// When a request that is late is sent a second time; nil sends it once at a time.
    public var hedging: Hedging? {
        get { hedgings.first }
        set { hedgings = newValue.map { [$0] } ?? [] }
    }
    /// One at most, likewise.
    private var hedgings: [Hedging] = []
    /// Whether jobs that are kept have ``RecoveryRule/deliverLater`` below `recovery`: nobody has said what is to be done
    /// about their failures.
    package var deliversLater = false
    /// The bounds on what an answer may cost.
    public var limits = ResponseLimits()
    package var delivery = DeliverySettings()
    /// The treatment of requests while the network is constrained; they are sent unless set.
    ///
    /// A request's own word counts where it sends less.
    public var constrained = ConstrainedUse.send
    /// The lighter form of requests, where ``constrained`` says so; nil leaves them as they are.
    public var lightRequest: LightRequest?
    /// How requests are signed; nil leaves them as they are.
    package var signing: SigningSettings?
    /// Whether a program's requests without a credential may cross the public network unencrypted, to an upstream that is
    /// `http` and names no network of its own in ``Upstream/allowedAddresses``; a service is refused otherwise.
    public var allowsPlainHTTP = false
    /// Whether no failure may reach the caller: the configuration then demands a rule that answers every one, and
    /// one that gets through all the same is counted and reported as a breach.
    public var neverFails = false

    /// The defaults of every property, with those upstreams; the first serves ordinary attempts.
    public init(upstreams: [Upstream]) { self.upstreams = upstreams }
}

extension RoutePolicy {
    /// Whether an answer's body has to be in memory before it can be judged or changed.
    package var inspectsBody: Bool {
        apiError != nil || success.inspectsBody || response.unwrap != nil || response.expectsJSON
            || response.empty == .error
    }

    /// Where rules lead after a failure of that kind that was never sent, as indices.
    fileprivate func failovers(after kind: FailureKind) -> [Int] {
        let refused = Failure(kind, sent: .neverSent, "")
        return recovery.compactMap { rule in
            guard !rule.reports, case .failover(let target, _) = rule.action,
                rule.matches(refused, isExhausted: true)
            else { return nil }
            return target
        }
    }

    /// The longest that a rule that retries 429 or 503 lets an upstream's word make it wait; nil when none listens.
    fileprivate var longestWait: Duration? {
        let asking = ([429, 503] as [Status]).map { Failure(.httpStatus, sent: .refused, "", status: $0) }
        let retries = recovery.compactMap { rule -> RetryPolicy? in
            guard !rule.reports, case .retry(let retry) = rule.action else { return nil }
            return asking.contains { rule.on.matches($0, isExhausted: false) } ? retry : nil
        }
        if retries.isEmpty { return .seconds(60) }
        return retries.filter(\.honorsRetryAfter).map(\.maxRetryAfter).max()
    }
}

/// Whether a request is answered when it is done, or kept on disk first.
package enum DeliveryMode: String, CaseIterable, Sendable {
    case sync
    case durable
}

/// How a route treats jobs that are kept on disk.
package struct DeliverySettings: Sendable, Equatable {
    /// How much of a finished job's bodies stays, until retention takes the rest.
    package enum Keeping: String, CaseIterable, Sendable {
        case always
        /// Only of jobs that did not succeed.
        case onFailure = "on_failure"
        case never
    }

    package enum Ordering: String, CaseIterable, Sendable {
        /// Jobs with the same `Waystation-Ordering-Key` go one at a time and in their order.
        case key
        /// All jobs of the route do.
        case route
    }

    /// The treatment of a request that does not say `respond-async`.
    package var mode = DeliveryMode.sync
    /// How long a job may wait for its delivery in all: one second to 365 days.
    package var expiresAfter: Duration = .seconds(7 * 86_400)
    package var ordering = Ordering.key
    /// Attempts of one durable job; nil leaves it at the route's `max_attempts`.
    package var maxAttempts: Int?
    package var keepsRequests = Keeping.always
    package var keepsResponses = Keeping.always
    /// How another route is told of the endings of kept jobs; nil tells nobody.
    package var notices: NoticeSettings? {
        get { told.first }
        set { told = newValue.map { [$0] } ?? [] }
    }
    /// One at most: of a struct in place each copy of a policy would have the parts.
    private var told: [NoticeSettings] = []

    package init() {}
}

/// Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature` on every attempt.
package struct SigningSettings: Sendable, Equatable {
    /// Each signs; several while one takes the place of another.
    ///
    /// `whsec_…` is a key for HMAC-SHA256 (24 to 64 bytes), `whsk_…` one for ed25519, both base 64.
    package var secrets: [SecretReference]

    package init(secrets: [SecretReference]) { self.secrets = secrets }
}

/// Every wait of a job is bounded by one of these.
public struct Timeouts: Sendable {
    /// Look-up, connect and TLS handshake of one attempt.
    public var connect: Duration = .seconds(2)
    /// One attempt without its content: its connection, and the time from the last byte of its request to the head of its
    /// answer.
    public var attempt: Duration = .seconds(10)
    /// The longest pause between two bytes of an attempt, of its request's content and of its answer's.
    public var idle: Duration = .seconds(10)
    /// Bytes a second that content has to come at, on the average of 30 seconds or of ``idle``, whichever is longer; 0 for
    /// any pace.
    ///
    /// It holds for content of requests, and for that of answers which is collected or whose length is known.
    public var minRate: Int = 1_024
    /// All attempts and all waits of the job; it stands still while content moves.
    public var total: Duration = .seconds(30)

    /// The defaults of every property.
    public init() {}
}

extension RateFloor {
    package init(_ timeouts: Timeouts) {
        self.init(bytesPerSecond: timeouts.minRate, idle: timeouts.idle)
    }
}

/// How many requests of a route may be with the upstream at once.
package struct ConcurrencyLimit: Sendable {
    package var maxRequests = 256
    /// Requests that may wait for a permit; one more is answered 503 `overloaded`.
    package var maxPendingRequests = 1024

    package init() {}
}

/// The callers that may use a route; empty lists allow everyone who can open the socket.
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
public struct IdempotencySettings: Sendable {
    /// Field in which the key goes to the upstream, the request's own `Idempotency-Key` as well as one of the relay's.
    public var header = "Idempotency-Key"
    /// Whether a request without a key gets the job's id as its key.
    public var generates = false
    /// Whether the caller's key is passed on.
    public var forwards = true
    /// How long after acceptance a durable job's key is known: a second job with it is then the first one.
    package var window: Duration = .seconds(86_400)

    /// The defaults of every property.
    public init() {}
}
