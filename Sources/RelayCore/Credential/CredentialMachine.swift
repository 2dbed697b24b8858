package import RelayBase
package import RelayRoute

/// The life of one fetched credential: one refresh at a time, one for each generation, failures remembered.
package struct CredentialMachine: Sendable {
    package private(set) var token: Token?
    package private(set) var isRefreshing = false
    /// The last refresh failed; until `until` nobody asks again.
    package private(set) var failure: (failure: Failure, until: Instant)?
    /// When the first refresh failed since the last that did not.
    package private(set) var failingSince: Instant?

    private let refreshBeforeExpiry: Duration
    private let failureCooldown: Duration

    /// The newest generation there was, of this credential or of the one it takes the place of.
    package private(set) var generation: UInt64

    /// Counts its tokens on from `generation`, so that what is remembered of an older one is not taken for theirs.
    package init(refreshBeforeExpiry: Duration, failureCooldown: Duration, after generation: UInt64 = 0) {
        self.refreshBeforeExpiry = refreshBeforeExpiry
        self.failureCooldown = failureCooldown
        self.generation = generation
    }

    package init(settings: OAuth2Settings, after generation: UInt64 = 0) {
        self.init(
            refreshBeforeExpiry: settings.refreshBeforeExpiry,
            failureCooldown: settings.failureCooldown,
            after: generation
        )
    }

    /// The next act of a caller that needs the credential.
    package enum Action: Sendable {
        case use(Token)
        /// Use it, and start a refresh in the background: it expires soon.
        case useAndRefresh(Token)
        /// Start a refresh, then wait for it with the others.
        case refresh
        case wait
        case fail(Failure)
    }

    /// A caller needs a token; `refused` is the generation an upstream has just refused, so that a newer one is needed.
    package mutating func tokenWanted(refused: UInt64?, now: Instant) -> Action {
        if let token, token.generation > refused ?? 0, token.expiresAt.map({ now < $0 }) ?? true {
            guard !isRefreshing, isDue(now), failure.map({ now >= $0.until }) ?? true else {
                return .use(token)
            }
            isRefreshing = true
            return .useAndRefresh(token)
        }
        if isRefreshing { return .wait }
        if let failure, now < failure.until { return .fail(failure.failure) }
        isRefreshing = true
        return .refresh
    }

    /// The token that a caller would simply use, where it stays in force until `end`.
    package func calmToken(_ now: Instant, until end: Instant) -> Token? {
        guard let token, !isRefreshing, failure == nil, !isDue(now),
            token.expiresAt.map({ end < $0 }) ?? true
        else { return nil }
        return token
    }

    /// The endpoint gave a token; without `expiresIn` it is used until it is refused.
    package mutating func refreshed(_ secret: Secret, expiresIn: Duration?, now: Instant) -> Token {
        generation += 1
        let next = Token(
            secret: secret,
            generation: generation,
            expiresAt: expiresIn.map { now.advanced(by: $0) }
        )
        token = next
        (failure, failingSince) = (nil, nil)
        isRefreshing = false
        refreshAt = expiresIn.map { lifetime in
            // A lifetime shorter than twice the margin is refreshed halfway, not at once and for ever.
            now.advanced(by: max(lifetime - refreshBeforeExpiry, lifetime / 2))
        }
        return next
    }

    /// The endpoint gave none; whoever asks before the cool-down is over gets the same failure.
    package mutating func refreshFailed(_ failure: Failure, now: Instant) {
        self.failure = (failure, now.advanced(by: failureCooldown))
        failingSince = failingSince ?? now
        isRefreshing = false
    }

    /// The failure is remembered, and keeps nobody from asking.
    package mutating func cooldownEnded(_ now: Instant) {
        if let until = failure?.until { failure?.until = min(until, now) }
    }

    private var refreshAt: Instant?

    private func isDue(_ now: Instant) -> Bool {
        refreshAt.map { now >= $0 } ?? false
    }
}
