/// Where a durable job stands; the raw values are those of the stores.
package enum JobState: UInt8, CaseIterable, Sendable {
    /// Not due before a moment its submitter named.
    ///
    /// Can transition to: queued, held, cancelled, expired.
    case scheduled = 0
    /// May be claimed, or waits for an earlier job of its ordering key.
    ///
    /// Can transition to: running, scheduled, held, cancelled, expired.
    case queued = 1
    /// Claimed: somebody has its token.
    ///
    /// Can transition to: every other state but scheduled.
    case running = 2
    /// Has failed and is due again at a moment a rule named.
    ///
    /// Can transition to: running, queued, held, cancelled, expired.
    case retrying = 3
    /// Put aside until the route, the credential or the operator lets it go on.
    ///
    /// Can transition to: queued, scheduled, retrying, cancelled, expired.
    case held = 4
    /// Over: the upstream did what was asked.
    case succeeded = 5
    /// Over without success; can be replayed.
    ///
    /// Can transition to: queued.
    case dead = 6
    /// Over because somebody said so; can be replayed.
    ///
    /// Can transition to: queued.
    case cancelled = 7
    /// Over because its time ran out; can be replayed.
    ///
    /// Can transition to: queued.
    case expired = 8

    /// Whether the job is over.
    package var isTerminal: Bool { rawValue >= JobState.succeeded.rawValue }

    /// The word of the API, the commands and the journal.
    package var name: String {
        switch self {
        case .scheduled: "scheduled"
        case .queued: "queued"
        case .running: "running"
        case .retrying: "retrying"
        case .held: "held"
        case .succeeded: "succeeded"
        case .dead: "dead"
        case .cancelled: "cancelled"
        case .expired: "expired"
        }
    }
}

/// Why a job waits; the raw values are those of the stores.
package enum WaitReason: UInt8, CaseIterable, Sendable {
    case backoff = 1
    case breakerOpen = 2
    case rateLimited = 3
    case concurrency = 4
    case routePaused = 5
    case ordering = 6
    case notBefore = 7
    case operatorHold = 8
    case credentials = 9
    case throttled = 10
    case networkConstrained = 11
    case routeRemoved = 12
    case routeClosed = 13
    case following = 14

    /// The word of the API, the commands and the journal.
    package var name: String {
        switch self {
        case .backoff: "backoff"
        case .breakerOpen: "breaker_open"
        case .rateLimited: "rate_limited"
        case .concurrency: "concurrency"
        case .routePaused: "route_paused"
        case .ordering: "ordering"
        case .notBefore: "not_before"
        case .operatorHold: "operator_hold"
        case .credentials: "credentials"
        case .throttled: "throttled"
        case .networkConstrained: "network_constrained"
        case .routeRemoved: "route_removed"
        case .routeClosed: "route_closed"
        case .following: "following"
        }
    }
}

/// Why a job that did not succeed is over: a word of the API; an engine may add its own.
package struct EndReason: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
    package init(stringLiteral value: String) { rawValue = value }

    /// Every rule and every attempt is spent.
    package static let exhausted: EndReason = "exhausted"
    /// A rule gave it up.
    package static let rejected: EndReason = "rejected"
    /// In flight at too many crashes.
    package static let poison: EndReason = "poison"
    /// Its last attempt was not answered, or in flight at a crash, and it may not be repeated.
    package static let outcomeUnknown: EndReason = "outcome_unknown"
    /// Its last attempt was answered with a failure that leaves it open whether it was carried out, and it may not be
    /// repeated.
    package static let notRepeatable: EndReason = "not_repeatable"
    /// Its record no longer has the bytes that were stored.
    package static let corrupt: EndReason = "corrupt"
    /// A newer job with its supersede key took its place.
    package static let superseded: EndReason = "superseded"
    /// Somebody cancelled it.
    package static let cancelled: EndReason = "cancelled"
    /// Its time ran out.
    package static let expired: EndReason = "expired"

    /// Whether a job that ended so may have been carried out, so that nobody may send it again unasked.
    package var mayHaveActed: Bool { self == .outcomeUnknown || self == .notRepeatable }

    /// Every reason the relay itself gives.
    package static let known: [EndReason] = [
        .exhausted, .rejected, .poison, .outcomeUnknown, .notRepeatable, .corrupt, .superseded, .cancelled,
        .expired,
    ]
}
