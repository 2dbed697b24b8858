/// Decides what happens after every attempt of one job.
///
/// The machine counts every allowance itself: no rule can spend more than the configuration gave it. It is told
/// the time and given random numbers, so the same events always lead to the same decisions.
package struct RecoveryMachine: Sendable {
    package let route: Route
    package let deadline: Instant
    /// Attempts of the job that may have reached the upstream, the first included.
    package let maxAttempts: Int
    package private(set) var attempts: [Attempt] = []

    private let method: Method
    private let options: JobOptions
    private let attemptTimeout: Duration
    private var upstream = 0
    /// Where failover has gone: never back, and never to the first.
    private var entered: [Int] = []
    private var countedAttempts = 0
    /// Times each rule has acted; empty until the first failure.
    private var uses: [Int] = []

    /// The end of everything, should the sum of all allowances be larger.
    private static let attemptCeiling = 1000

    package init(route: Route, method: Method, options: JobOptions, now: Instant) {
        self.route = route
        self.method = method
        self.options = options
        let total =
            options.timeout.map { min($0, route.policy.timeouts.total) } ?? route.policy.timeouts.total
        deadline = now.advanced(by: total)
        attemptTimeout =
            options.attemptTimeout.map { min($0, route.policy.timeouts.attempt) }
            ?? route.policy.timeouts.attempt
        maxAttempts =
            options.maxAttempts.map { min($0, route.policy.maxAttempts) } ?? route.policy.maxAttempts
    }

    /// Where the next attempt goes and when it must be over.
    package struct Plan: Sendable {
        package let number: Int
        package let upstream: Upstream
        package let deadline: Instant
    }

    /// What to do after a failure.
    package enum Decision: Sendable {
        /// Send again at that time.
        case retry(at: Instant)
        /// Fetch a credential newer than the one just refused, then send again.
        case refreshCredentials
        /// Send to the upstream the next `attemptBegan` names.
        case failover
        case respond(CannedResponse, rule: String)
        /// The job ends with the failure it has.
        case fail
    }

    package mutating func attemptBegan(at now: Instant) -> Plan {
        let target = route.policy.upstreams[upstream]
        attempts.append(Attempt(number: attempts.count + 1, upstream: target.name, began: now))
        return Plan(
            number: attempts.count,
            upstream: target,
            deadline: min(now.advanced(by: attemptTimeout), deadline)
        )
    }

    package mutating func attemptSucceeded(at now: Instant, status: Status, exchange: Exchange) {
        let last = attempts.count - 1
        attempts[last].duration = attempts[last].began.duration(to: now)
        attempts[last].status = status
        attempts[last].exchange = exchange
    }

    /// A failure was turned into a success by a `quick_recovery` rule; no attempt was spent.
    package mutating func quickRecovered(from failure: Failure, at now: Instant) {
        note(failure, at: now)
        attempts[attempts.count - 1].next = .quickRecovery
    }

    /// An attempt failed, or could not be sent.
    ///
    /// `canRepeat` is false when the request body is gone, so that only an answer of the relay's own is left;
    /// `canRefresh` tells whether the route's credential can be fetched again.
    package mutating func attemptFailed(
        _ failure: Failure,
        at now: Instant,
        canRepeat: Bool,
        canRefresh: Bool,
        random: UInt64
    ) -> Decision {
        note(failure, at: now)
        if failure.sent != .neverSent { countedAttempts += 1 }
        // A failed preparation would fail again; cancellation is offered to no rule.
        guard failure.kind != .preparation else { return .fail }

        let rules = route.policy.recovery
        var isExhausted = now >= deadline || !hasAttemptsLeft
        for index in rules.indices where rules[index].on.matches(failure, isExhausted: isExhausted) {
            let rule = rules[index]
            switch rule.action {
            case .retry(let policy):
                guard failure.isRetryable != false else { continue }
                if let at = retryTime(policy, index, failure, now, canRepeat, random) {
                    return decide(rule, index, .retry(after: now.duration(to: at)), .retry(at: at))
                }
                isExhausted = true
            case .refreshCredentials(let maxTimes):
                if canRefresh, count(index) < maxTimes,
                    maySendAgain(failure, .idempotentOrKeyed, now, canRepeat)
                {
                    return decide(rule, index, .refreshCredentials, .refreshCredentials)
                }
                isExhausted = true
            case .failover(let target):
                guard options.allowsFallback else { continue }
                if target != 0, !entered.contains(target),
                    maySendAgain(failure, .idempotentOrKeyed, now, canRepeat)
                {
                    entered.append(target)
                    upstream = target
                    return decide(rule, index, .failover(to: route.policy.upstreams[target].name), .failover)
                }
                isExhausted = true
            case .respond(let canned):
                guard options.allowsFallback else { continue }
                return decide(rule, index, .respond(canned.source), .respond(canned, rule: rule.name))
            case .respondStale: continue
            case .fail:
                return decide(rule, index, .fail, .fail)
            }
        }
        return .fail
    }
}

extension RecoveryMachine {
    private var hasAttemptsLeft: Bool {
        countedAttempts < maxAttempts && attempts.count < RecoveryMachine.attemptCeiling
    }

    private func count(_ rule: Int) -> Int { uses.isEmpty ? 0 : uses[rule] }

    private mutating func note(_ failure: Failure, at now: Instant) {
        let last = attempts.count - 1
        attempts[last].duration = attempts[last].began.duration(to: now)
        attempts[last].status = failure.status
        attempts[last].exchange = failure.exchange
        attempts[last].failure = failure
    }

    private mutating func decide(
        _ rule: RecoveryRule,
        _ index: Int,
        _ next: Attempt.Next,
        _ decision: Decision
    ) -> Decision {
        if uses.isEmpty { uses = Array(repeating: 0, count: route.policy.recovery.count) }
        uses[index] += 1
        attempts[attempts.count - 1].rule = rule.name
        attempts[attempts.count - 1].next = next
        return decision
    }

    /// When a retry rule would send again; nil when it has nothing left or may not.
    private mutating func retryTime(
        _ policy: RetryPolicy,
        _ index: Int,
        _ failure: Failure,
        _ now: Instant,
        _ canRepeat: Bool,
        _ random: UInt64
    ) -> Instant? {
        let retry = count(index) + 1
        guard retry < policy.maxAttempts, maySendAgain(failure, policy.methods, now, canRepeat) else {
            return nil
        }
        var wait = policy.backoff.wait(beforeRetry: retry, random: random)
        if policy.honorsRetryAfter, let asked = failure.retryAfter {
            wait = max(wait, min(asked, policy.maxRetryAfter))
        }
        let at = now.advanced(by: wait)
        return at < deadline ? at : nil
    }

    /// The verdict rule (RFC 9110 §9.2.2): what was never sent may always be sent, what was answered as the rules
    /// say, and what has an unknown outcome only when repeating it is safe.
    private mutating func maySendAgain(
        _ failure: Failure,
        _ methods: RetryPolicy.Methods,
        _ now: Instant,
        _ canRepeat: Bool
    ) -> Bool {
        guard hasAttemptsLeft, now < deadline else { return false }
        guard canRepeat else {
            attempts[attempts.count - 1].heldBack = .bodyGone
            return false
        }
        guard failure.sent == .unknown else { return true }
        let isSafe =
            switch methods {
            case .any: true
            case .idempotent: method.isIdempotent
            case .idempotentOrKeyed: method.isIdempotent || options.hasIdempotencyKey
            }
        if !isSafe { attempts[attempts.count - 1].heldBack = .outcomeUnknown }
        return isSafe
    }
}
