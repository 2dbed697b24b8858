package import RelayBase
package import RelayJobs
package import RelayRoute

/// Decides what happens after every attempt of one job.
///
/// The machine counts every allowance itself: no rule can spend more than the configuration gave it. It is told
/// the time and given random numbers, so the same events always lead to the same decisions.
package struct RecoveryMachine: Sendable {
    package let route: Route
    /// When the time of the job's attempts and waits is over, which stands still while content moves.
    private var allowedUntil: Instant
    /// The bound of all of it, whatever moves; nil where there is none.
    package let end: TimeBound?
    /// Attempts of the job that may have reached the upstream, the first included.
    package let maxAttempts: Int
    package internal(set) var attempts: [Attempt] = []
    /// When the last of them began.
    var began = Instant(nanoseconds: 0)
    /// When it was sent that is on record: later where that is its second sending.
    var sentAt = Instant(nanoseconds: 0)
    /// How long content has moved since.
    var moved = Duration.zero

    var method: Method
    var options: JobOptions
    /// Of the attempt under way.
    var attemptLimit: TimeLimit
    var upstream = 0
    /// Where attempts have gone besides the first upstream: failover never goes back to any of them.
    var entered: [Int] = []
    var countedAttempts = 0
    /// Attempts of the job, or of this run of a durable one, that were never sent.
    var unsentAttempts = 0
    /// Those of them that came last, one after the other.
    var unsentInARow = 0
    /// Whether an attempt may have been carried out that only its key makes safe to repeat.
    var needsKey = false
    /// Times each rule has acted; empty until the first failure of a job that is not durable.
    var uses: [Int] = []
    /// The history that a durable job brings along; nil for every other.
    let history: JobHistory?
    /// When a request that is answered in the upstream's stead is due as a kept job; nil of one that is not kept.
    var keepsAfter: Duration?
    /// The failure a strategy is asked about, and where reading goes on when it passes.
    var consulted: (index: Int, failure: Failure, isExhausted: Bool)?

    /// Attempts of a job that may end without having been sent, whatever its rules and strategies want.
    static let unsentLimit = 100
    /// The least a strategy waits from the second attempt in a row on that was never sent.
    static let unsentPace = Backoff(jitter: .equal)

    /// With a `history` the job is durable: it goes on where its earlier runs ended, but for the upstreams it has
    /// been sent to, and its time is bounded by its expiry alone.
    ///
    /// Content has `moved` for so long since `now`.
    package init(
        route: Route,
        method: Method,
        options: JobOptions,
        now: Instant,
        moved: Duration = .zero,
        history: JobHistory? = nil
    ) {
        self.route = route
        self.method = method
        self.options = options
        self.history = history
        if let history {
            allowedUntil = .distantFuture
            end = history.deadline.map { TimeBound($0, TimeLimit("the job's expiry (expires_after)")) }
            countedAttempts = history.spentAttempts
            if !history.ruleUses.isEmpty {
                uses = route.deliveryRules.map { history.ruleUses[$0.name] ?? 0 }
            }
        } else {
            allowedUntil = now.advanced(by: route.policy.timeouts.total).advanced(by: moved)
            end = options.timeout.map {
                TimeBound(now.advanced(by: $0), TimeLimit("the caller's timeout", $0))
            }
        }
        attemptLimit = RecoveryMachine.attemptLimit(route, options)
        maxAttempts = route.maxAttempts(options, isDurable: history != nil)
    }

    static func attemptLimit(_ route: Route, _ options: JobOptions) -> TimeLimit {
        let attempt = route.policy.timeouts.attempt
        guard let asked = options.attemptTimeout, asked < attempt else {
            return TimeLimit("timeouts.attempt", attempt)
        }
        return TimeLimit("the caller's attempt timeout", asked)
    }

    /// When no further attempt begins.
    package var deadline: Instant { end.map { min($0.moment, allowedUntil) } ?? allowedUntil }

    private var jobLimit: TimeLimit {
        guard let end, end.moment <= allowedUntil else {
            return TimeLimit("timeouts.total", route.policy.timeouts.total)
        }
        return end.limit
    }

    var rules: [RecoveryRule] { history == nil ? route.policy.recovery : route.deliveryRules }

    /// Where the next attempt goes and when it must be over.
    package struct Plan: Sendable {
        package let number: Int
        package let upstream: Upstream
        /// Index of the upstream in the route's list.
        package let upstreamIndex: Int
        package let deadline: Instant
        /// The limit that sets the deadline.
        package let limit: TimeLimit
        /// The bound of the attempt, whatever moves.
        package let end: TimeBound?
    }

    /// The step to take after a failure.
    package enum Decision: Sendable {
        /// Send again at that time.
        case retry(at: Instant)
        /// Fetch a credential newer than the one just refused, then send again.
        case refreshCredentials
        /// Send to the upstream the next `attemptBegan` names.
        case failover
        case respond(CannedResponse)
        case respondStale
        /// Ask the strategy, then tell the machine with `advised`.
        case consult(any RecoveryStrategy)
        /// Send the strategy's request at that time.
        case resend(HTTPRequest, at: Instant)
        /// The job ends with that failure instead of its own.
        case stop(Failure)
        /// The job ends with the failure it has.
        case fail
        /// A durable job is given up; any other ends with the failure it has.
        case deadLetter
        /// A durable job waits for its route, which is paused; any other ends with the failure it has.
        case pauseRoute(reason: String)
        /// A durable job waits for an operator; any other ends with the failure it has.
        case hold
    }

    /// While the network is constrained the route's lighter upstream takes the place of the first.
    package mutating func attemptBegan(
        at now: Instant,
        wall: Int64,
        isConstrained: Bool = false
    ) -> Plan {
        let upstreamIndex = upstream == 0 ? route.firstUpstreamIndex(isConstrained: isConstrained) : upstream
        if upstreamIndex != 0, !entered.contains(upstreamIndex) { entered.append(upstreamIndex) }
        let target = route.policy.upstreams[upstreamIndex]
        let number = (history?.attempts ?? 0) + attempts.count + 1
        attempts.append(Attempt(number: number, upstream: target.name, beganAt: wall))
        (began, sentAt, moved) = (now, now, .zero)
        return planned(number, upstreamIndex)
    }

    func planned(_ number: Int, _ upstreamIndex: Int) -> Plan {
        let stop = began.advanced(by: attemptLimit.duration ?? .zero).advanced(by: moved)
        return Plan(
            number: number,
            upstream: route.policy.upstreams[upstreamIndex],
            upstreamIndex: upstreamIndex,
            deadline: min(stop, deadline),
            limit: stop <= deadline ? attemptLimit : jobLimit,
            end: end
        )
    }

    /// Content of the attempt's request or answer has moved for so long, which no limit counts but those of its pace.
    package mutating func contentMoved(for time: Duration, _ plan: Plan) -> Plan {
        guard time > .zero else { return plan }
        moved += time
        allowedUntil = allowedUntil.advanced(by: time)
        return planned(plan.number, plan.upstreamIndex)
    }

    /// The attempt that has begun has not been sent, and begins now.
    package mutating func attemptPostponed(at now: Instant, wall: Int64, _ plan: Plan) -> Plan {
        attempts[attempts.count - 1].beganAt = wall
        (began, sentAt, moved) = (now, now, .zero)
        return planned(plan.number, plan.upstreamIndex)
    }

    /// The attempt that has begun and was not to be sent waits after all, as if nobody had asked about it.
    package mutating func attemptReprieved(_ plan: Plan) {
        let last = attempts.count - 1
        attempts[last] = Attempt(
            number: plan.number,
            upstream: plan.upstream.name,
            beganAt: attempts[last].beganAt
        )
        unsentInARow -= 1
    }

    /// How long the last attempt has been under way.
    package func timeTaken(at now: Instant) -> Duration { sentAt.duration(to: now) }

    /// How long it has been under way by the limits, without the time in which content moved.
    func timeWaited(at now: Instant) -> Duration { began.duration(to: now) - moved }

    /// How much of it is that.
    var timeMoved: Duration { moved }

    /// The attempt's answer was a redirect that is followed.
    package mutating func redirected() { attempts[attempts.count - 1].redirects += 1 }

    package mutating func attemptSucceeded(at now: Instant, status: Status, exchange: Exchange) {
        let last = attempts.count - 1
        attempts[last].duration = timeTaken(at: now)
        attempts[last].status = status
        attempts[last].exchange = exchange
    }

    /// A failure was turned into a success by a `quick_recovery` rule; no attempt was spent.
    package mutating func quickRecovered(from failure: Failure, at now: Instant) {
        note(failure, at: now)
        attempts[attempts.count - 1].next = .quickRecovery
    }

    /// The attempt that has begun comes to nothing through no fault of its own; one that was never sent was none, nor were
    /// those that were held back and led to it.
    package mutating func attemptInterrupted(_ failure: Failure, at now: Instant) {
        if failure.sent == .neverSent {
            attempts.removeLast()
            while attempts.last?.failure?.isOwnRefusal == true { attempts.removeLast() }
        } else {
            note(failure, at: now)
        }
    }

    /// The facts that a decision may draw on besides the failure itself.
    package struct Situation: Sendable {
        package var now: Instant
        /// False when the request body is gone, so that only an answer of the relay's own is left.
        package var canRepeat = true
        /// Whether the request a strategy gave carries the key of the one that failed.
        package var keepsKey = true
        /// Whether the route's credential can be fetched again.
        package var canRefresh = false
        /// How long no credential is fetched, since the upstream refused a fresh one; nil when one may be.
        package var refreshHeld: Duration?
        /// Whether a last good answer to the request is kept.
        package var hasStale = false
        /// Whether the route's retries have room for another.
        package var hasBudget = true
        /// Whether what was held back can wait until it may be sent, and spends nothing on that.
        package var waits = false
        /// The hold that has kept the attempt back, where there was one.
        package var hold: AttemptDeferral?
        /// Upstreams that failed so recently that no rule may enter them.
        package var cooling: [Int] = []
        /// Uniform in all of `UInt64`.
        package var random: UInt64

        package init(now: Instant, random: UInt64) {
            self.now = now
            self.random = random
        }
    }

    /// An attempt failed, or could not be sent.
    package mutating func attemptFailed(_ failure: Failure, _ situation: Situation) -> Decision {
        decide(about: took(failure, at: situation.now), situation)
    }

    /// Puts the failure of the attempt that has begun on record, and counts the attempt.
    mutating func took(_ found: Failure, at now: Instant) -> Failure {
        var failure = found
        if isDurable, route.policy.deliversLater, failure.cause == .tooMany { failure.blamed = .tooMany }
        note(failure, at: now)
        if failure.sent == .neverSent {
            if !failure.isHold { unsentAttempts += 1 }
            unsentInARow += 1
        } else {
            if failure.blamed != .tooMany { countedAttempts += 1 }
            unsentInARow = 0
        }
        // That a later one was refused says nothing of this one.
        if failure.sent.mayHaveActed, !method.isIdempotent { needsKey = true }
        return failure
    }

    /// Decides what follows a failure that is on record.
    mutating func decide(about failure: Failure, _ situation: Situation) -> Decision {
        // A failed preparation would fail again; cancellation is offered to no rule.
        guard failure.kind != .preparation else { return .fail }
        return read(
            from: 0,
            failure,
            situation,
            isExhausted: situation.now >= deadline || !hasAttemptsLeft
        )
    }

    /// The strategy of the last `consult` has answered; its wait and its wish to send again are bounded like any
    /// rule's.
    package mutating func advised(_ disposition: RecoveryDisposition, _ situation: Situation) -> Decision {
        guard let asked = consulted else { return .fail }
        consulted = nil
        let rule = rules[asked.index]
        switch disposition {
        case .passOn:
            held(rule, .passedOn)
            return read(from: asked.index + 1, asked.failure, situation, isExhausted: asked.isExhausted)
        case .stop(let failure):
            return decide(rule, asked.index, .fail, .stop(failure)) ?? .fail
        case .retry(let request, let wait):
            let at = situation.now.advanced(by: max(wait, pause(situation)))
            var advised = situation
            advised.canRepeat = request.body.isReplayable
            guard case .consult(_, let methods) = rule.action else { return .fail }
            if let reason = obstacle(asked.failure, methods, advised) ?? lateness(at, situation)
                ?? spentBudget(situation)
            {
                held(rule, reason)
                return read(from: asked.index + 1, asked.failure, situation, isExhausted: true)
            }
            return decide(
                rule,
                asked.index,
                .retry(after: situation.now.duration(to: at)),
                .resend(request, at: at)
            ) ?? .fail
        }
    }

    /// The last failure has that cause.
    package mutating func blamed(_ cause: FailureCause) {
        guard !attempts.isEmpty else { return }
        attempts[attempts.count - 1].failure?.blamed = cause
    }

    /// Parts of the route's traffic would have held the last attempt back.
    package mutating func reported(_ parts: TrafficParts) {
        guard !attempts.isEmpty else { return }
        for (part, name) in TrafficParts.names where parts.contains(part) {
            attempts[attempts.count - 1].heldBack.append(HeldBack(rule: name, reason: .reported(part.would)))
        }
    }

    /// A strategy's retry replaced the request.
    package mutating func requestChanged(method: Method, isKeyed: Bool) {
        self.method = method
        options.hasIdempotencyKey = isKeyed
    }

    /// The job ends for want of time, which its last failure says from now on.
    package mutating func markPastDeadline() {
        guard !attempts.isEmpty else { return }
        attempts[attempts.count - 1].failure?.isPastDeadline = true
    }

    /// How far any attempt got: a job whose last attempt was never sent, or refused, may have been carried out by
    /// another.
    package var furthest: Sent {
        var furthest = Sent.neverSent
        for index in attempts.indices where attempts[index].lookUp == nil {
            var sent = attempts[index].failure?.sent
            if sent?.mayHaveActed == true, isSettled(index) { sent = .refused }
            switch sent {
            case .unknown?: return .unknown
            case .answered?: furthest = .answered
            case .refused?: if furthest == .neverSent { furthest = .refused }
            case .neverSent?, nil: break
            }
        }
        return furthest
    }

    /// Attempts of the job that are left, for a strategy to look at before it does costly work.
    package var attemptsLeft: Int {
        max(0, min(maxAttempts - countedAttempts, RecoveryMachine.unsentLimit - unsentAttempts))
    }
}

extension RecoveryMachine {
    /// The least wait of a strategy's retry: an attempt that is never sent does not count, and so must cost time.
    private func pause(_ situation: Situation) -> Duration {
        guard unsentInARow > 1 else { return .zero }
        return RecoveryMachine.unsentPace.wait(beforeRetry: unsentInARow - 1, random: situation.random)
    }

    mutating func note(_ failure: Failure, at now: Instant) {
        let last = attempts.count - 1
        attempts[last].duration = timeTaken(at: now)
        attempts[last].status = failure.status
        attempts[last].exchange = failure.exchange
        attempts[last].failure = failure
    }
}
