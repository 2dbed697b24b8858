import RelayBase
import RelayRoute

/// The traffic of one route to its upstreams, and the leave that attempts get.
struct RouteTrafficMachine: Sendable {
    /// In the route's order; empty until the first of them is asked about.
    var upstreams: [UpstreamTraffic] = []
    /// The upstream that requests begin with, as an index.
    private(set) var first = 0
    /// The route as it is configured now; nil where nobody has said so.
    private(set) var route: Route?
    private(set) var budget = RetryBudgetMachine()
    var rate = RateLimitMachine()
    /// Requests that wait before a retry, and are not with an upstream meanwhile.
    private(set) var resting = 0
    /// Second sendings that are under way beside the first, each with a permit.
    private(set) var hedging = 0
    /// How long answers took, of a route that sends a second time.
    var times = HedgeTable()

    /// The kind of attempt that asks for leave.
    enum Kind: Hashable, Sendable {
        case first
        /// With another credential, or at another upstream: no retry.
        case another
        /// A retry that has its part of the budget.
        case retry
        /// The next attempt of a job that is kept, which still has to find that room.
        case keptRetry
    }

    /// The attempt that asks for leave.
    struct Asking: Sendable {
        var kind: Kind
        /// Index of the upstream.
        var upstreamIndex: Int
        /// Whether it is a run of a job that is kept.
        var isKept: Bool
        /// Whether it goes on from another attempt of the request or the run, sent or held back.
        var isElsewhere = false
        var slot: SlotRequest
        /// Uniform in all of `UInt64`, of a kept job.
        var random: UInt64 = 0
    }

    /// How an attempt stands to the spacing of the route and of the upstream.
    enum SlotRequest: Hashable, Sendable {
        /// It goes now or not at all.
        case none
        /// It would wait for its turn, which has to come before then.
        case wanted(before: Instant)
        /// It has waited.
        case taken
    }

    /// The turn that an attempt waits for.
    struct RateSlot: Hashable, Sendable {
        /// Index of the upstream.
        let upstreamIndex: Int
        /// By the route's rate.
        let route: TakenSlot?
        /// With an upstream that is not to be sent too fast.
        let upstream: TakenSlot?
    }

    enum Answer: Hashable, Sendable {
        case go(AttemptGrant)
        /// It may take its turn when it comes, where it has one: to be given back if it does not.
        case held(AttemptDeferral, RateSlot?)
    }

    /// The upstream that requests begin with, as an index; nil before the first of them.
    var inUse: Int? { upstreams.isEmpty ? nil : first }

    /// Asks whether an attempt may begin now; its end has to be told.
    ///
    /// `isFull` tells that the route has no permit left, with this attempt's.
    ///
    /// The class of the request is asked for only where the upstream is in trouble, or nearly full.
    mutating func grant(
        _ route: Route,
        _ asking: Asking,
        of asked: () -> RequestClass? = { nil },
        isFull: Bool = false,
        _ now: Instant
    ) -> Answer {
        know(route)
        let index = asking.upstreamIndex
        if !asking.isElsewhere, asking.kind == .first || asking.kind == .keptRetry { first = index }
        // An attempt that nothing holds back costs next to nothing.
        if upstreams[index].isCalm, asking.kind != .keptRetry, route.policy.traffic.rateLimit == nil,
            upstreams[index].underWay < upstreams[index].width(route), !upstreams[index].isCrowded(route, now)
        {
            return .go(begin(route, asking, nil, isFull: isFull, isProbe: false, now))
        }
        return grantInTrouble(route, asking, asked(), isFull: isFull, now)
    }

    /// The same of a first attempt at the first upstream; nil where it takes more than a look.
    mutating func grantCalmly(_ route: Route, isFull: Bool, _ now: Instant) -> AttemptGrant? {
        know(route)
        guard upstreams[0].isCalm, route.policy.traffic.rateLimit == nil,
            upstreams[0].underWay < upstreams[0].width(route), !upstreams[0].isCrowded(route, now)
        else { return nil }
        first = 0
        return begin(
            route,
            Asking(kind: .first, upstreamIndex: 0, isKept: false, slot: .none),
            nil,
            isFull: isFull,
            isProbe: false,
            now
        )
    }

    mutating func endedCalmly(_ grant: AttemptGrant, of route: Route, _ now: Instant) -> Bool {
        upstreams[grant.upstreamIndex].endedWell(grant, of: route, now)
    }

    mutating func begin(
        _ route: Route,
        _ asking: Asking,
        _ asked: RequestClass?,
        isFull: Bool,
        isProbe: Bool,
        _ now: Instant
    ) -> AttemptGrant {
        let index = asking.upstreamIndex
        switch asking.kind {
        case .first: budget.began(now)
        case .retry, .another: break
        case .keptRetry: budget.retryBegan()
        }
        upstreams[index].began(asked, now)
        let most = min(upstreams[index].width(route), upstreams[index].limit)
        return AttemptGrant(
            upstreamIndex: index,
            epoch: upstreams[index].breaker.epoch,
            began: now,
            wasFull: isFull || upstreams[index].underWay >= most,
            isRetry: asking.kind == .retry || asking.kind == .keptRetry,
            isProbe: isProbe
        )
    }

    private mutating func grantInTrouble(
        _ route: Route,
        _ asking: Asking,
        _ asked: RequestClass?,
        isFull: Bool,
        _ now: Instant
    ) -> Answer {
        let (settings, index) = (route.policy.traffic, asking.upstreamIndex)
        let name = upstreams[index].name
        var reported = TrafficParts()
        /// Where a decision becomes an action, or is told of instead.
        func reports(_ part: TrafficParts) -> Bool {
            guard route.reporting.contains(part) else { return false }
            reported.insert(part)
            return true
        }
        func held(_ reason: AttemptDeferral.Reason, _ until: Instant, since: Instant? = nil) -> Answer {
            var hold = AttemptDeferral(reason: reason, upstream: name, until: until, since: since)
            hold.cause = upstreams[index].cause
            if reason == .unanswered { hold.request = asked?.name }
            return .held(hold, nil)
        }
        if let hold = upstreams[index].hold(route, of: asked, now) {
            var found = hold.hold(name)
            found.cause = upstreams[index].cause
            if asking.isKept, found.request != nil {
                upstreams[index].looked(inVain: true, now)
                found.pause = upstreams[index].stepsAside(until: hold.until, now)
            }
            return .held(found, nil)
        }
        if upstreams[index].wouldHold(route, of: asked, now) { _ = reports(.throttling) }
        let gate = upstreams[index].gate(asked, settings.breaker, now)
        let isForced = upstreams[index].isForced(now)
        switch gate {
        case .asks, .goesBeside, .tries: break
        case .waits where !isForced && reports(.breaker), .refused where !isForced && reports(.breaker): break
        case .waits(let until):
            var hold = upstreams[index].breakerHold(until: until, now)
            hold.reason = .breakerTrial
            return .held(hold, nil)
        case .refused(let until):
            var hold = upstreams[index].breakerHold(until: until, now)
            if asking.isKept {
                upstreams[index].looked(inVain: true, now)
                hold.pause = upstreams[index].stepsAside(asked, asking.random, now)
            }
            return .held(hold, nil)
        }
        if asking.kind == .keptRetry, !budget.hasCapacity(settings.budget, isKept: true, now),
            !reports(.budget)
        {
            // Many wait for that: they come back one by one within the budget's memory.
            let pause = Duration.seconds(1) + .nanoseconds(Int64(asking.random >> 11) % 9_000_000_000)
            var hold = AttemptDeferral(reason: .budgetSpent, until: now.advanced(by: pause))
            hold.pause = pause
            return .held(hold, nil)
        }
        if upstreams[index].underWay >= upstreams[index].width(route), !reports(.window) {
            return held(.windowFull, now.advanced(by: pollsWindow(of: index)))
        }
        if let asked, upstreams[index].isCrowded(route, now),
            let since = upstreams[index].stuck(asked, route, now)
        {
            return held(.unanswered, now.advanced(by: .seconds(1)), since: since)
        }
        if asking.slot != .taken, var hold = nextSlot(route, asking, asked, now) {
            if asking.isKept, upstreams[index].isPacedApart { upstreams[index].cameTooFast(now) }
            // A turn that leaves no time for an answer is lost for everybody.
            let needed = min(
                upstreams[index].window.usualLatency.map { $0 * 2 } ?? .zero,
                route.policy.timeouts.attempt
            )
            guard case .wanted(let deadline) = asking.slot, hold.until.advanced(by: needed) < deadline else {
                hold.isTooLate = true
                return .held(hold, nil)
            }
            return .held(hold, takeSlot(route, asking, asked, at: hold.until, now))
        }
        // Asked last: a request that is to probe has to be able to.
        var isProbe = false
        switch gate {
        case .asks:
            let breaker = upstreams[index].breaker.permission(settings.breaker, now)
            if case .refused(let until) = breaker, isForced || !reports(.breaker) {
                return .held(upstreams[index].breakerHold(until: until, now), nil)
            }
            isProbe = breaker == .probe
        case .tries: if let asked { upstreams[index].tries(asked, now) }
        case .goesBeside, .waits, .refused: break
        }
        if asking.slot != .taken { takeSlot(route, asking, asked, at: now, now) }
        if asking.isKept, !isProbe { upstreams[index].looked(inVain: false, now) }
        if asking.slot != .taken, let spacing = route.reportedSpacing {
            let turn = rate.next(spacing, asking.side, now)
            if turn > now { _ = reports(.rate) }
            // It takes the turn that it would have waited for, and none where it would not have waited so long.
            let takes =
                if case .wanted(let deadline) = asking.slot { turn < deadline } else { turn <= now }
            if takes { rate.take(spacing, asking.side, at: turn, now) }
        }
        var asking = asking
        // One that would not have been let go takes nothing of what it would not have had.
        if reported.contains(.budget) { asking.kind = .another }
        var grant = begin(route, asking, asked, isFull: isFull, isProbe: isProbe, now)
        grant.reported = reported
        // The breaker does not see what it would have stopped.
        if reported.contains(.breaker) { grant.epoch &-= 1 }
        grant.isTrial = gate == .tries
        if let asked { grant.isCounted = upstreams[index].joins(asked, now) }
        return .go(grant)
    }

    /// The attempt has ended, with nothing to say that would change anything but what is remembered.
    ///
    /// - Returns: false where there is more to it, and `ended` has to be told.
    mutating func endedWell(
        _ grant: AttemptGrant,
        _ word: AttemptFeedback,
        of route: Route,
        isWhole: Bool = true,
        _ now: Instant
    ) -> Bool {
        !grant.isRetry && word.isPlainSuccess
            && upstreams[grant.upstreamIndex].endedWell(grant, of: route, isWhole: isWhole, now)
    }

    /// The same of the end of an answer's content.
    mutating func answerEndedWell(_ grant: AttemptGrant, _ now: Instant) -> Bool {
        upstreams[grant.upstreamIndex].answerEndedWell(grant, now)
    }

    /// The attempt has ended; `random` is uniform in all of `UInt64`.
    ///
    /// - Returns: what has become of the breaker, when it has changed by that, and whose fault a failure is.
    mutating func ended(
        _ grant: AttemptGrant,
        _ word: AttemptFeedback,
        asked: () -> RequestClass? = { nil },
        of route: Route,
        random: UInt64,
        _ now: Instant
    ) -> AttemptVerdict {
        let ended = upstreams[grant.upstreamIndex].ended(word, grant, of: asked, route, random: random, now)
        // A retry that its caller ended too soon has not failed.
        if grant.isRetry { budget.retryEnded(succeeded: ended.succeeded, now) }
        var verdict = AttemptVerdict(blamed: ended.blamed)
        if ended.hasChanged {
            verdict.change = change(of: grant.upstreamIndex, route, now)
        }
        return verdict
    }

    /// The hold on such a request now, at the upstream that requests begin with; nil where it would go.
    func hold(of asked: RequestClass, _ route: Route, _ now: Instant) -> AttemptDeferral? {
        guard !upstreams.isEmpty else { return nil }
        let upstream = upstreams[first]
        if let hold = upstream.hold(route, of: asked, now) { return hold.hold(upstream.name) }
        guard upstream.refuses(route, now) != nil else { return nil }
        switch upstream.gate(asked, route.policy.traffic.breaker, now) {
        case .asks, .goesBeside, .tries: return nil
        case .waits(let until), .refused(let until): return upstream.breakerHold(until: until, now)
        }
    }

    /// Lifts what upstreams have asked for and what was learnt of them, as an operator wants it: holds, rates, windows
    /// and the classes of requests that fail; the circuit breaker itself stays as it is.
    ///
    /// - Returns: the names of the upstreams of which something was lifted.
    mutating func cleared(
        _ upstream: String?,
        requests: String?,
        _ route: Route,
        _ now: Instant
    ) -> [String] {
        know(route)
        var lifted: [String] = []
        for index in upstreams.indices where upstream.map({ $0 == upstreams[index].name }) ?? true {
            let hasAny =
                requests.map { upstreams[index].cleared($0, now) } ?? upstreams[index].cleared(route, now)
            if hasAny { lifted.append(upstreams[index].name) }
        }
        return lifted
    }

    private func change(of index: Int, _ route: Route, _ now: Instant) -> BreakerChange {
        let upstream = upstreams[index]
        return BreakerChange(
            upstream: upstream.name,
            state: upstream.breaker.state,
            failing: upstream.failingText,
            isReported: route.reporting.contains(.breaker),
            now: now
        )
    }

    /// The content of an answer has come to its end whose head was told by `ended`.
    ///
    /// - Returns: what has become of the breaker, when it has changed by that.
    mutating func answerEnded(
        _ grant: AttemptGrant,
        _ word: AttemptFeedback,
        asked: () -> RequestClass? = { nil },
        of route: Route,
        random: UInt64,
        _ now: Instant
    ) -> BreakerChange? {
        guard upstreams[grant.upstreamIndex].answerEnded(word, grant, of: asked, route, random: random, now)
        else {
            return nil
        }
        return change(of: grant.upstreamIndex, route, now)
    }

    /// Takes what a retry needs of the budget, for a failure that is about to be decided on.
    ///
    /// - Returns: false when there is nothing left.
    mutating func takeBudget(_ route: Route, _ now: Instant) -> Bool {
        guard budget.hasCapacity(route.policy.traffic.budget, now) else { return false }
        budget.retryBegan()
        return true
    }

    /// There is no retry, or it was given up before its attempt.
    mutating func giveBackBudget(_ now: Instant) { budget.retryEnded(succeeded: nil, now) }

    /// Takes what a second sending needs of the budget, whatever comes of it.
    ///
    /// - Returns: false when there is nothing left.
    mutating func takeHedge(_ settings: RetryBudgetSettings, _ now: Instant) -> Bool {
        budget.takesHedge(settings, now)
    }

    /// The second sending that had leave, and maybe that turn, was not sent.
    mutating func notHedged(_ slot: RateSlot?, _ route: Route, _ now: Instant) {
        budget.notHedged(route.policy.traffic.budget, now)
        if let slot { giveBack(slot, route, now) }
    }

    /// A second sending is about to be asked about, and takes its permit before.
    mutating func hedgeBegan() { hedging += 1 }

    /// One of the two sendings is over, or there is no second.
    mutating func hedgeEnded() { hedging -= 1 }

    /// A request begins to wait before its retry, or has waited.
    mutating func backOff(_ begins: Bool) { resting += begins ? 1 : -1 }

    mutating func ordered(
        _ order: BreakerMachine.Order?,
        of upstream: String,
        until: Instant,
        _ route: Route,
        _ now: Instant
    ) {
        know(route)
        for index in upstreams.indices where upstreams[index].name == upstream {
            upstreams[index].ordered(order, until: until, route, now)
        }
    }

    /// Traffic belongs to one list of upstreams: a reload that changes it begins with another.
    mutating func know(_ route: Route) {
        guard upstreams.isEmpty else {
            precondition(upstreams.count == route.policy.upstreams.count, "the traffic of another route")
            return
        }
        let present = self.route ?? route
        upstreams = route.policy.upstreams.map { UpstreamTraffic($0, of: present) }
    }

    /// The route as it is from now on, whatever requests of before have to tell.
    mutating func configured(_ route: Route) {
        self.route = route
        for index in upstreams.indices { upstreams[index].configured(route) }
    }

    /// How long it takes at the least until another of its attempts has probably ended.
    private func pollsWindow(of index: Int) -> Duration {
        let usual = upstreams[index].window.usualLatency ?? .milliseconds(100)
        return min(max(usual / 4, .milliseconds(5)), .milliseconds(250))
    }
}
