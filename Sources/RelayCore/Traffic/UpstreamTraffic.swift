import RelayBase
import RelayRoute

/// How one upstream of a route takes what it is sent, and what it may be sent next.
struct UpstreamTraffic: Sendable {
    let name: String
    var breaker: BreakerMachine
    var window: WindowMachine
    /// Attempts that may be under way by the route as it is configured now, whatever requests of before know of.
    private(set) var limit: Int
    var pace = PaceMachine()
    /// Its attempts are spaced while it has said that they come too fast.
    var rateLimit = RateLimitMachine()
    /// Attempts under way.
    private(set) var underWay = 0
    /// Whether nothing is known to be wrong: neither breaker nor holds nor pace has to be asked.
    private(set) var isCalm = true
    /// Whether it is asked of each attempt that ends what kind of request it was.
    var isWatched = false
    /// The requests that it has asked to wait with.
    var holds = HoldTable()
    /// How requests of each class fare while it fails.
    var classes = ClassTable()
    /// Those that take the second half of what may be under way.
    var crowd = CrowdTable()
    /// The losses of one kind of request only.
    private var losses = LossTable()
    var usual = UsualTime()
    /// Attempts that have ended; and how many had at the last two looks, which are a second apart at least.
    var endings = 0
    var looks: (before: Int, last: Int, at: Instant) = (0, 0, Instant(nanoseconds: .min / 2))
    /// Kept jobs are claimed from then on while the upstream is in trouble.
    var nextLook = Instant(nanoseconds: .min / 2)
    /// When the last of the kept jobs that have left the line comes back to it.
    var lastReturn = Instant(nanoseconds: .min / 2)
    /// When a kept job of the kind that is spaced last came too early.
    var keptTooFast = Instant(nanoseconds: .min / 2)
    /// The class that probed last, in vain.
    var lastProbe: RequestClass?
    /// Its last failure that counts against it.
    private(set) var cause: HoldCause?

    init(_ upstream: Upstream, of route: Route) {
        name = upstream.name
        breaker = BreakerMachine(route.policy.traffic.breaker)
        limit = route.policy.concurrency.maxRequests
        window = WindowMachine(route.policy.traffic.window, limit: limit)
    }

    /// The route as it is from now on.
    mutating func configured(_ route: Route) {
        limit = route.policy.concurrency.maxRequests
        breaker.configured(route.policy.traffic.breaker)
        window.configured(limit: limit)
    }

    /// The hold on such a request, as the upstream has asked and within what the route allows; nil where there is none.
    ///
    /// Of no request in particular it is what holds back all of them.
    func hold(_ route: Route, of asked: RequestClass? = nil, _ now: Instant) -> HoldTable.Hold? {
        route.longestHold.flatMap { holds.hold(of: asked?.asked, longest: $0, now) }
    }

    /// Whether there would be one, of a route that only tells of them.
    func wouldHold(_ route: Route, of asked: RequestClass?, _ now: Instant) -> Bool {
        guard let longest = route.reportedHold else { return false }
        return holds.hold(of: asked?.asked, longest: longest, now) != nil
    }

    /// Whether it has asked for patience with any request, and the route lets them wait.
    private func isHolding(_ route: Route, _ now: Instant) -> Bool {
        route.longestHold.map { !holds.standing(longest: $0, now).isEmpty } ?? false
    }

    /// The spacing of its attempts; nil while they have none.
    func spacing(
        _ route: Route,
        of asked: RequestClass? = nil,
        _ now: Instant
    ) -> RateSpacing? {
        pace.concerns(asked?.asked) ? spacingOfScope(route, now) : nil
    }

    /// The spacing of those attempts that are spaced.
    func spacingOfScope(_ route: Route, _ now: Instant) -> RateSpacing? {
        route.longestHold == nil ? nil : pace.spacing(now)
    }

    /// How many attempts may be under way now by its window, which may only tell so.
    func width(_ route: Route) -> Int {
        route.policy.traffic.window.isEnabled ? max(1, min(window.size, limit)) : .max
    }

    /// How many attempts may be under way now.
    func bound(_ route: Route) -> Int { route.reporting.contains(.window) ? .max : width(route) }

    /// When its breaker may be asked again; nil when it lets everything through, or only tells what it would not.
    func refuses(_ route: Route, _ now: Instant) -> Instant? {
        if route.reporting.contains(.breaker), !isForced(now) { return nil }
        return breaker.refuses(route.policy.traffic.breaker, now)
    }

    /// How many attempts of kept jobs may begin now, of as many as `most`, and what holds the others back.
    func capacity(_ route: Route, _ now: Instant, atMost most: Int) -> (count: Int, hold: AttemptDeferral?) {
        if let hold = hold(route, now) {
            return (0, hold.hold(name))
        }
        if let until = refuses(route, now) {
            let hold = breakerHold(until: until, now)
            if until <= now, nextLook <= now { return (1, hold) }
            // Jobs that have not failed are let through; those that have are told from them only when they ask.
            guard !isForced(now), classes.mayPass(now) else { return (0, hold) }
            var search = hold
            search.isSearch = true
            search.until = until <= now ? nextLook : min(until, max(now, nextLook))
            return (nextLook > now ? 0 : min(most, UpstreamTraffic.looksAtOnce), search)
        }
        // Where nothing is held any more there is nothing to look for.
        if nextLook > now, isHolding(route, now) || pace.rate(now) != nil {
            var search = AttemptDeferral(reason: .throttled, upstream: name, until: nextLook)
            search.isSearch = true
            return (0, search)
        }
        guard let spacing = spacing(route, now) else { return (most, nil) }
        let count = rateLimit.capacity(spacing, now, atMost: most)
        if count == most { return (count, nil) }
        let next = rateLimit.next(spacing, .kept, now)
        return (count, AttemptDeferral(reason: .tooFast, upstream: name, until: next))
    }

    mutating func began(_ asked: RequestClass? = nil, _ now: Instant) {
        underWay += 1
        pace.began(now, of: asked?.asked)
    }

    /// An attempt has succeeded, and nothing is known to be wrong.
    ///
    /// Without being `isWhole` it is a head whose content is on its way, which the breaker counts at its end.
    ///
    /// - Returns: false where there is more to it than to remember that, and nothing is remembered.
    mutating func endedWell(
        _ leave: AttemptGrant,
        of route: Route,
        isWhole: Bool = true,
        _ now: Instant
    ) -> Bool {
        let settings = route.policy.traffic
        guard isCalm, !isWatched, leave.epoch == breaker.epoch, !leave.isCounted,
            settings.breaker.slowDuration == nil,
            !settings.window.isEnabled || window.size >= limit
        else { return false }
        let taken = now.nanoseconds &- leave.began.nanoseconds
        if settings.window.isEnabled {
            guard window.noted(nanoseconds: taken, wasFull: leave.wasFull) else { return false }
        }
        usual.answered(nanoseconds: taken)
        underWay -= 1
        endings &+= 1
        if isWhole { breaker.worked(now) }
        if route.longestHold != nil { pace.took(now) }
        return true
    }

    /// The content of an answer has come to its end as it should.
    ///
    /// - Returns: false where there is more to it, and nothing is remembered.
    mutating func answerEndedWell(_ leave: AttemptGrant, _ now: Instant) -> Bool {
        guard isCalm, leave.epoch == breaker.epoch else { return false }
        breaker.worked(now)
        return true
    }

    /// An operator's word about the breaker; what was kept from the upstream comes back as after an outage.
    mutating func ordered(_ order: BreakerMachine.Order?, until: Instant, _ route: Route, _ now: Instant) {
        breaker.ordered(order, until: until, now)
        if order == .open { window.restart(route.policy.traffic.window) }
        classes = ClassTable()
        lookRound(now)
    }

    /// An operator lifts what it has asked for and what was learnt of it.
    ///
    /// - Returns: whether there was anything.
    mutating func cleared(_ route: Route, _ now: Instant) -> Bool {
        let isNarrow = route.policy.traffic.window.isEnabled && window.size < limit
        let hasAny = !holds.isEmpty(now) || pace.rate(now) != nil || isNarrow || !classes.failing.isEmpty
        holds.clear()
        pace.clear()
        classes = ClassTable()
        rateLimit = RateLimitMachine()
        losses = LossTable()
        window = WindowMachine(route.policy.traffic.window, limit: limit)
        (nextLook, lastReturn) = (now, now)
        lookRound(now)
        return hasAny
    }

    /// The same of requests of that name.
    mutating func cleared(_ requests: String, _ now: Instant) -> Bool {
        var hasAny = holds.clear(requests)
        if classes.clear(requests) { hasAny = true }
        if pace.rate(now) != nil, pace.scope?.name == requests {
            pace.clear()
            rateLimit = RateLimitMachine()
            hasAny = true
        }
        (nextLook, lastReturn) = (now, now)
        lookRound(now)
        return hasAny
    }

    /// Since when its breaker is open, or kept so.
    func openSince(_ now: Instant) -> Instant? { breaker.order(at: now)?.since ?? breaker.since }

    /// Whether attempts may be sent to it.
    func isInUse(_ route: Route, _ now: Instant) -> Bool {
        refuses(route, now) == nil && hold(route, now) == nil
    }

    /// Finds out whether anything is wrong.
    private mutating func lookRound(_ now: Instant) {
        if pace.rate(now) == nil { pace.clear() }
        isCalm = breaker.isIdle(now) && holds.isEmpty(now) && pace.rate(now) == nil
        isWatched = losses.isWatching(now) || crowd.underWay > 0
    }

    /// Whether one kind of request is spaced, and the others are not.
    var isPacedApart: Bool { pace.isApart }

    /// Whether an operator keeps the breaker open.
    func isForced(_ now: Instant) -> Bool { breaker.order(at: now)?.order == .open }

    /// The end of an attempt.
    struct Ended: Sendable {
        /// Whether the breaker has changed.
        var hasChanged = false
        /// The cause of a failure where it is known here only.
        var blamed: FailureCause?
        /// Whether a retry did what it was for; nil where nothing is known.
        var succeeded: Bool?
    }

    /// The content of an answer has come to its end, or not: what its head said of the load stands.
    ///
    /// - Returns: whether the breaker has changed.
    mutating func answerEnded(
        _ word: AttemptFeedback,
        _ leave: AttemptGrant,
        of asked: () -> RequestClass?,
        _ route: Route,
        random: UInt64,
        _ now: Instant
    ) -> Bool {
        let settings = route.policy.traffic
        defer { lookRound(now) }
        if word.breaker == .fails { cause = word.cause }
        if word.window == .lost, settings.window.isEnabled, !leave.isProbe,
            asked().map({ losses.ended($0, .lost, now) }) ?? true
        {
            window.ended(.lost, began: leave.began, wasFull: leave.wasFull, now)
        }
        let before = breaker.state
        let hasChanged = breaker.ended(
            word.breaker,
            epoch: leave.epoch,
            isProbe: leave.isProbe,
            settings.breaker,
            random: random,
            now
        )
        let works: Bool? = word.breaker == .fails ? false : nil
        if !leave.reported.contains(.breaker) {
            tell(works, of: asked, isTrial: leave.isTrial, hasChanged, since: before, settings, now)
        }
        return hasChanged
    }

    /// How requests of the class fare; `works` is nil where this end says nothing of that.
    private mutating func tell(
        _ works: Bool?,
        of asked: () -> RequestClass?,
        isTrial: Bool,
        _ hasChanged: Bool,
        since before: BreakerMachine.State,
        _ settings: TrafficSettings,
        _ now: Instant
    ) {
        if works == false || before != .closed, let asked = asked() {
            classes.ended(asked, works: works, isTrial: isTrial, now)
        }
        if hasChanged, before == .closed { classes.opened(settings.breaker.counted, now) }
        if hasChanged, before != .closed, breaker.state == .closed {
            window.restart(settings.window, bearing: 2 * underWay)
            classes.closed()
            lastProbe = nil
            (nextLook, lastReturn) = (now, now)
        }
    }

    /// An attempt has ended; of what class is asked only where that matters.
    mutating func ended(
        _ word: AttemptFeedback,
        _ leave: AttemptGrant,
        of asked: () -> RequestClass?,
        _ route: Route,
        random: UInt64,
        _ now: Instant
    ) -> Ended {
        let settings = route.policy.traffic
        defer { lookRound(now) }
        underWay -= 1
        endings &+= 1
        var (word, blamed) = judged(word, leave, route, now)
        var said = word.breaker
        // The head of an answer that goes on says no more to the breaker than that.
        let isAnswered = said == .works || word.window == .fine
        if isAnswered { usual.answered(nanoseconds: now.nanoseconds &- leave.began.nanoseconds) }
        if said == .fails || word.hold != nil { cause = word.cause }
        let isTold =
            !isCalm || isWatched || leave.isCounted || said == .fails || word.hold != nil || word.isTooFast
        let asked = isTold ? asked() : nil
        if let asked {
            if leave.isCounted {
                crowd.ended(asked, isAnswered: isAnswered, now)
            } else if isAnswered, crowd.underWay > 0 {
                crowd.answered(asked, now)
            }
        }
        if let longest = route.longestHold {
            if let hold = word.hold, hold.wait > .zero {
                // An upstream that asks for patience, and gets it, is there: it need not be probed.
                if said == .fails { said = .nothing }
                holds.told(hold, to: asked?.asked, longest: longest, now)
            }
            if word.isTooFast { pace.refused(began: leave.began, now, of: asked?.asked) }
            if word.window == .fine { pace.took(now, of: asked?.asked) }
        } else if let longest = route.reportedHold, let hold = word.hold, hold.wait > .zero {
            holds.told(hold, to: asked?.asked, longest: longest, now)
        }
        let isAlone = isLostAlone(word.window, asked, now)
        // A refusal beside others that are answered says that it was one too many, as long as not all of its kind are refused.
        if word.window == .tooMuch, !isAlone, underWay > 0, breaker.isMostlyAnswered { blamed = .tooMany }
        // One attempt at a time says nothing of how many the upstream takes, nor does what is lost where others are answered.
        if settings.window.isEnabled, !leave.isProbe, !isAlone {
            window.ended(
                word.window,
                began: leave.began,
                wasFull: leave.wasFull,
                floor: settings.window.afterOutage,
                now
            )
        }
        let slow = settings.breaker.slowDuration.map { leave.began.duration(to: now) > $0 } ?? false
        let before = breaker.state
        let hasChanged = breaker.ended(
            said,
            epoch: leave.epoch,
            isProbe: leave.isProbe,
            isSlow: slow,
            settings.breaker,
            random: random,
            now
        )
        if leave.isProbe, said == .fails { lastProbe = asked }
        let works = said == .fails ? false : isAnswered ? true : nil
        if !leave.reported.contains(.breaker) {
            tell(works, of: { asked }, isTrial: leave.isTrial, hasChanged, since: before, settings, now)
        }
        return Ended(hasChanged: hasChanged, blamed: blamed, succeeded: word.succeeded)
    }

    /// Whether that is the lot of this kind of request, and not the upstream's.
    private mutating func isLostAlone(
        _ word: WindowMachine.Signal,
        _ asked: RequestClass?,
        _ now: Instant
    ) -> Bool {
        guard let asked else { return false }
        let isAlone = !losses.ended(asked, word, now)
        return isAlone || word == .lost && crowd.isAlone(asked)
    }

    /// The word of an attempt that its caller ended: it counts where the caller waited longer than the upstream usually takes.
    private func judged(
        _ word: AttemptFeedback,
        _ leave: AttemptGrant,
        _ route: Route,
        _ now: Instant
    ) -> (AttemptFeedback, FailureCause?) {
        guard word.isCallersEnd else { return (word, nil) }
        let attempt = route.policy.timeouts.attempt
        guard leave.began.duration(to: now) >= usual.time(attempt: attempt) else {
            return (AttemptFeedback(), .caller)
        }
        return (word.breaker == .nothing ? .unanswered : word, .upstream)
    }
}
