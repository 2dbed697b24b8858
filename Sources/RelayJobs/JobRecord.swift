package import RelayBase

/// The facts of a durable job that never change.
///
/// Its optional parts are spelled out, as those of `NewJob`: what is written with `?` is nil before `init` sets it.
package struct JobRecord: Sendable {
    package var id: JobID
    package var route: String
    package var method: Method
    /// Below the route, with query, without leading slash.
    package var target: String
    package var fields: HeaderFields
    /// RFC 9218 urgency: 0 first, 7 last.
    package var priority: UInt8
    /// One job of a key at a time, in the order of acceptance.
    package var orderingKey: Optional<String>
    /// A newer job of the same user with the same key on the same route cancels those that still wait, and is sent
    /// after the one that runs, which then gets no other attempt.
    package var supersedeKey: Optional<String>
    /// As the caller sent it.
    package var idempotencyKey: Optional<String>
    /// As `key=value`.
    package var labels: [String]
    package var submitter: Optional<Submitter>
    /// Whether sending it twice is acceptable.
    package var mayRepeat: Bool
    /// Whether the upstream can be asked what became of an attempt.
    package var asksFirst: Bool
    /// Whether its route told another one of its jobs' endings when it was accepted.
    package var notifies: Bool
    /// Whether it tells of the ending of another job, which its idempotency key names.
    package var isNotice: Bool
    /// `traceparent`, `tracestate` and `baggage` of the caller.
    package var trace: TraceContext
    /// The caller's bounds, only ever tighter than the route's.
    package var bounds: Bounds

    /// Sets each part once: where one had a value before, all of them would be copied once more.
    package init(
        id: JobID,
        route: String,
        method: Method,
        target: String,
        fields: HeaderFields = HeaderFields(),
        priority: UInt8 = 3,
        orderingKey: String? = nil,
        supersedeKey: String? = nil,
        idempotencyKey: String? = nil,
        labels: [String] = [],
        submitter: Submitter? = nil,
        mayRepeat: Bool = true,
        asksFirst: Bool = false,
        notifies: Bool = false,
        isNotice: Bool = false,
        trace: TraceContext = TraceContext(),
        bounds: Bounds = Bounds()
    ) {
        self.id = id
        self.route = route
        self.method = method
        self.target = target
        self.fields = fields
        self.priority = priority
        self.orderingKey = orderingKey
        self.supersedeKey = supersedeKey
        self.idempotencyKey = idempotencyKey
        self.labels = labels
        self.submitter = submitter
        self.mayRepeat = mayRepeat
        self.asksFirst = asksFirst
        self.notifies = notifies
        self.isNotice = isNotice
        self.trace = trace
        self.bounds = bounds
    }
}

extension JobRecord {
    /// The ordering key of all jobs of a route that keeps them all in order; no caller can send it.
    package static let routeOrder = ""

    /// The key that orders it within its route: the user belongs to it, so that nobody waits behind another's jobs.
    package var orderingScope: String? {
        orderingKey.map { $0 == JobRecord.routeOrder ? $0 : scoped($0) }
    }

    /// The key that it supersedes by within its route, likewise.
    package var supersedeScope: String? { supersedeKey.map(scoped) }

    private func scoped(_ key: String) -> String { "\(submitter.map { String($0.user) } ?? "-") \(key)" }
}

extension JobRecord {
    /// The record that stays once the request's content is gone: nothing that only sending it needs, and nothing that
    /// may be its caller's secret.
    package var expunged: JobRecord {
        var rest = self
        rest.fields = HeaderFields()
        rest.target = String(target.prefix { $0 != "?" })
        rest.trace.state = nil
        rest.trace.baggage = nil
        return rest
    }
}

extension JobRecord {
    /// The caller that handed the job over, as the kernel named it.
    package struct Submitter: Hashable, Sendable {
        package var user: UInt32
        /// The daemon of a fleet on whose machine it is that user; none where users are shared.
        package var node: NodeName
        /// The systemd unit; nil when the process has none.
        package var unit: String?

        package init(user: UInt32, unit: String?, on node: NodeName = .none) {
            self.user = user
            self.node = node
            self.unit = unit
        }
    }

    /// W3C trace fields as they came.
    package struct TraceContext: Hashable, Sendable {
        package var parent: String?
        package var state: String?
        package var baggage: String?

        package init(parent: String? = nil, state: String? = nil, baggage: String? = nil) {
            self.parent = parent
            self.state = state
            self.baggage = baggage
        }
    }

    /// The bounds that the caller asked for, in the words of `JobOptions`.
    package struct Bounds: Hashable, Sendable {
        package var timeout: Duration?
        package var attemptTimeout: Duration?
        package var maxAttempts: Int?
        package var allowsFallback = true
        package var constrained = ConstrainedUse.send

        package init(
            timeout: Duration? = nil,
            attemptTimeout: Duration? = nil,
            maxAttempts: Int? = nil,
            allowsFallback: Bool = true,
            constrained: ConstrainedUse = .send
        ) {
            self.timeout = timeout
            self.attemptTimeout = attemptTimeout
            self.maxAttempts = maxAttempts
            self.allowsFallback = allowsFallback
            self.constrained = constrained
        }
    }
}

/// A job to accept.
package struct NewJob: Sendable {
    package var record: JobRecord
    package var body: StoredBody
    package var due: Due
    /// How long it may wait before it is over as `expired`; nil for ever.
    package var expiresAfter: Optional<Duration>
    package var idempotency: Optional<Idempotency>
    /// Whether the request's content goes with the job's end, whatever that is.
    package var dropsContent: Bool
    /// The attempts for it before it was kept; nil of a job that is kept before any is made.
    package var past: Optional<PriorAttempts>
    /// Whether its caller still waits; nil when it waits for ever.
    ///
    /// A job that nobody waits for and that could not be told from the caller's next try is not accepted, or cancelled
    /// before anybody can claim it. One that stays is not claimed with its acceptance, or waits again at once.
    package var wait: Optional<AcceptanceWait>
    /// Where its first attempt goes if it is claimed with its acceptance; nil when nobody could send it now.
    ///
    /// It is claimed where any claim could take it now, and no other job of its route waits that is due.
    package var upstream: Optional<String>
    /// Whether there is no room for it: it is only looked whether its idempotency key is known, and abandoned if not.
    package var lacksCapacity: Bool

    /// Whether it stays though nobody waits for it: who sends it again means the same job, by its idempotency key, or
    /// takes its place, by its supersede key, for which an older one may have had to go.
    @inline(__always)
    package var staysUnawaited: Bool { idempotency != nil || record.supersedeKey != nil }

    /// The same of a job whose caller has given up: it also stays where the store could not take it back.
    package var staysGivenUp: Bool { staysUnawaited || wait?.isInDoubt == true }

    /// Sets each part once, as `JobRecord` does.
    package init(
        _ record: JobRecord,
        body: StoredBody = .bytes([]),
        due: Due = .now,
        expiresAfter: Duration? = nil,
        idempotency: Idempotency? = nil,
        dropsContent: Bool = false,
        past: PriorAttempts? = nil,
        wait: AcceptanceWait? = nil,
        upstream: String? = nil
    ) {
        self.record = record
        self.body = body
        self.due = due
        self.expiresAfter = expiresAfter
        self.idempotency = idempotency
        self.dropsContent = dropsContent
        self.past = past
        self.wait = wait
        self.upstream = upstream
        lacksCapacity = false
    }

    /// When a job may first be sent.
    package enum Due: Hashable, Sendable {
        case now
        /// A delay counted from acceptance, which no step of the wall clock changes.
        case after(Duration)
        /// A date in milliseconds since 1970 UTC, which follows the wall clock.
        case date(Int64)
    }

    /// The key and the fingerprint that make a second submission the same one.
    package struct Idempotency: Hashable, Sendable {
        /// The submitter's uid and the route belong to the key.
        package var user: UInt32
        package var key: String
        /// Of method, target and body; the same key with another one is a conflict.
        package var fingerprint: [UInt8]
        /// For how long after acceptance the key is known.
        package var window: Duration

        package init(user: UInt32, key: String, fingerprint: [UInt8], window: Duration) {
            self.user = user
            self.key = key
            self.fingerprint = fingerprint
            self.window = window
        }
    }
}

/// The result for a job that was to be accepted.
package enum EnqueueResult: Hashable, Sendable {
    /// It survives power loss.
    case accepted
    /// The same, and it is claimed: its first attempt stands on record.
    case running(ClaimToken)
    /// The key is known with the same fingerprint: this is the job it stands for.
    case duplicate(JobID)
    /// The key is known with another fingerprint.
    case conflict(JobID)
    /// Nobody waited for it any more: it is not there.
    case abandoned

    /// Whether there is a job now that was not there before.
    package var isAccepted: Bool {
        switch self {
        case .accepted, .running: true
        case .duplicate, .conflict, .abandoned: false
        }
    }
}
