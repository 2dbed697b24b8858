import RelayBase
import RelayRoute
import RelayTestSupport

/// The terms of one configuration for the route's traffic, in the checker's own numbers; times in nanoseconds.
struct TrafficTerms {
    struct Breaker {
        var ratio: Double
        var minimum: Int
        /// Nil where nothing is said of it.
        var sampling: Int64?
        var inARow: Int?
        var statuses: [UInt16]
        var pause: Int64
        var longestPause: Int64
        var slow: Int64?
        var slowRatio: Double

        /// The breaks of who says nothing of breakers.
        static let usual = Breaker(
            ratio: 0.95,
            minimum: 20,
            sampling: nil,
            inARow: nil,
            statuses: [],
            pause: 500_000_000,
            longestPause: 15_000_000_000,
            slow: nil,
            slowRatio: 1
        )

        /// Whether the last so many attempts are judged where fewer have ended in the last two seconds.
        var judgesLatest: Bool { sampling == nil && slow == nil && minimum <= 64 && ratio >= 0.95 }

        var counted: Int64 { judgesLatest ? 2_000_000_000 : sampling ?? 30_000_000_000 }
    }

    struct Budget {
        var percent: Int
        var floor: Int
    }

    struct Window {
        var initial: Int?
        var afterOutage: Int
    }

    struct Rate: Equatable {
        var requests: Int
        var per: Int64
        var burst: Int

        var interval: Int64 { per / Int64(requests) }
    }

    /// Where a rule leads after what was not sent.
    struct Failover {
        var target: Int
        var whenOpen: Bool
        var whenLimited: Bool
        /// After what opens a breaker and what asks for patience, and so when either holds back.
        var whenDown: Bool
    }

    /// A rule that answers in the upstream's stead, and keeps the request.
    struct StandIn {
        enum Cause: CaseIterable { case any, down, exhausted }

        var cause: Cause
        /// Whether it is read before the rule that retries.
        var isFirst: Bool
        var keeps = true
    }

    /// Counted from 0; attempts carry it as a part of their idle timeout.
    var number: Int
    var breaker: Breaker?
    var budget: Budget?
    var window: Window?
    /// The longest that an answer holds its upstream back; nil where none does.
    var longest: Int64?
    var rate: Rate?
    var limit: Int
    var pending: Int
    var attempt: Int64
    var total: Int64
    var retries: Int
    var retryWait: Int64
    var failovers: [Failover]
    var standIn: StandIn?
    /// Whether the rules repeat what may do harm twice.
    var repeatsAll: Bool
    /// Attempts of a request or kept job that may have reached an upstream.
    var mostAttempts: Int

    /// Whether nothing is asked before an attempt.
    var isOff: Bool { breaker == nil && budget == nil && window == nil && longest == nil && rate == nil }

    private static let second: Int64 = 1_000_000_000

    init(number: Int, upstreams: Int, _ draw: inout SplitMix64) {
        let second = TrafficTerms.second
        self.number = number
        if draw.chance(85) {
            let pause = Int64(draw.pick([100, 500, 500, 2_000])) * 1_000_000
            breaker = Breaker(
                ratio: draw.pick([0.95, 0.95, 0.95, 0.5, 0.2]),
                minimum: draw.pick([2, 5, 20, 20, 50]),
                sampling: (draw.pick([nil, nil, 1, 5, 30]) as Int64?).map { $0 * second },
                inARow: draw.pick([nil, nil, 3, 10]),
                statuses: draw.pick([[], [], [], [500], [500, 501]]),
                pause: pause,
                longestPause: max(pause, Int64(draw.pick([1, 5, 15])) * second),
                slow: draw.chance(20) ? Int64(draw.pick([100, 400])) * 1_000_000 : nil,
                slowRatio: draw.pick([0.5, 1])
            )
        }
        if draw.chance(85) {
            budget = Budget(percent: draw.pick([0, 10, 10, 30]), floor: draw.pick([0, 1, 3, 3, 10]))
        }
        limit = draw.pick([2, 8, 20, 50, 256])
        if draw.chance(85) {
            window = Window(initial: draw.pick([nil, nil, 5, 30]), afterOutage: draw.pick([1, 5, 10, 10]))
        }
        if draw.chance(85) { longest = Int64(draw.pick([1, 5, 20, 60])) * second }
        if draw.chance(35) {
            let requests = draw.pick([5, 20, 50, 100])
            let per = Int64(draw.pick([500, 1_000, 1_000])) * 1_000_000
            rate = Rate(requests: requests, per: per, burst: draw.pick([1, 1, 5, requests]))
        }
        if draw.chance(4) { (breaker, budget, window, longest, rate) = (nil, nil, nil, nil, nil) }
        pending = draw.pick([0, 10, 1_000])
        attempt = Int64(draw.pick([300, 1_000, 3_000])) * 1_000_000
        total = Int64(draw.pick([1_000, 4_000, 15_000])) * 1_000_000
        repeatsAll = draw.chance(60)
        mostAttempts = draw.pick([4, 12, 12])
        retries = draw.pick([0, 2, 3, 6])
        retryWait = Int64(draw.pick([1, 50, 400])) * 1_000_000
        failovers = (1..<max(1, upstreams)).compactMap { target in
            guard draw.chance(75) else { return nil }
            return Failover(
                target: target,
                whenOpen: draw.chance(75),
                whenLimited: draw.chance(50),
                whenDown: draw.chance(30)
            )
        }
        if draw.chance(35) {
            standIn = StandIn(cause: draw.pick(StandIn.Cause.allCases), isFirst: draw.chance(50))
        }
    }

    /// A rate that makes everybody wait, and nothing else.
    mutating func setBusy() {
        rate = Rate(requests: 20, per: TrafficTerms.second, burst: rate?.burst ?? 1)
        (limit, pending, window, breaker, standIn) = (256, 1_000, nil, nil, nil)
        (attempt, total) = (3 * TrafficTerms.second, 4 * TrafficTerms.second)
    }

    /// The same as the core reads it; `names` are those of the upstreams.
    func policy(_ upstreams: [Upstream]) -> RoutePolicy {
        var policy = RoutePolicy(upstreams: upstreams)
        policy.traffic = settings
        policy.concurrency.maxRequests = limit
        policy.concurrency.maxPendingRequests = pending
        policy.timeouts.attempt = .nanoseconds(attempt)
        policy.timeouts.total = .nanoseconds(total)
        policy.timeouts.idle = .nanoseconds(TrafficTerms.idle + Int64(number))
        policy.maxAttempts = mostAttempts
        policy.delivery.expiresAfter = .seconds(86_400)
        policy.recovery = failovers.map { failover in
            var on: [FailureMatcher.Token] = []
            if failover.whenOpen { on.append(.kind(.breakerOpen)) }
            if failover.whenLimited { on.append(.kind(.rateLimited)) }
            if failover.whenDown { on += [.statusClass(.serverError), .group(.connection)] }
            return RecoveryRule(
                name: "to\(failover.target)",
                on: FailureMatcher(on),
                action: .failover(upstream: failover.target, methods: methods)
            )
        }
        if let standIn, standIn.isFirst { policy.recovery.append(standIn.rule) }
        if retries > 0 {
            var retry = RetryPolicy()
            retry.maxAttempts = retries + 1
            retry.methods = methods
            retry.maxRetryAfter = .seconds(2)
            retry.backoff = Backoff(schedule: .constant(.nanoseconds(retryWait)), jitter: .equal)
            let rule = RecoveryRule(name: "again", on: FailureMatcher([.any]), action: .retry(retry))
            policy.recovery.append(rule)
        }
        if let standIn, !standIn.isFirst { policy.recovery.append(standIn.rule) }
        return policy
    }

    private var methods: RepeatableMethods { repeatsAll ? .any : .idempotentOrKeyed }

    private static let idle: Int64 = 100 * second

    /// The number that an attempt carries.
    static func number(of request: OutboundRequest) -> Int {
        Int(request.timeouts.idle.saturatedNanoseconds - idle)
    }

    private var settings: TrafficSettings {
        var settings = TrafficSettings.off
        if let breaker {
            settings.breaker.isEnabled = true
            settings.breaker.failureRatio = breaker.ratio
            settings.breaker.minimumThroughput = breaker.minimum
            settings.breaker.sampling = breaker.sampling.map { .nanoseconds($0) }
            settings.breaker.statuses = StatusSet(codes: breaker.statuses)
            settings.breaker.consecutiveFailures = breaker.inARow
            settings.breaker.breakDuration = .nanoseconds(breaker.pause)
            settings.breaker.maxBreakDuration = .nanoseconds(breaker.longestPause)
            settings.breaker.slowDuration = breaker.slow.map { .nanoseconds($0) }
            settings.breaker.slowRatio = breaker.slowRatio
        }
        if let budget {
            settings.budget.isEnabled = true
            (settings.budget.percent, settings.budget.floor) = (budget.percent, budget.floor)
        }
        if let window {
            settings.window.isEnabled = true
            (settings.window.initial, settings.window.afterOutage) = (window.initial, window.afterOutage)
        }
        if let longest {
            settings.throttling.isEnabled = true
            settings.throttling.longest = .nanoseconds(longest)
        }
        settings.rateLimit = rate.map {
            RateLimitSettings(maxRequests: $0.requests, per: .nanoseconds($0.per), burst: $0.burst)
        }
        return settings
    }
}

extension TrafficTerms.StandIn {
    fileprivate var rule: RecoveryRule {
        let on: [FailureMatcher.Token] =
            switch cause {
            case .any: [.any]
            case .down: [.statusClass(.serverError), .group(.connection)]
            case .exhausted: [.exhausted]
            }
        let answer = CannedResponse(source: .placeholder, status: 200, fields: [], body: [])
        var rule = RecoveryRule(name: "for-now", on: FailureMatcher(on), action: .respond(answer))
        rule.keepsRequest = keeps
        return rule
    }
}
