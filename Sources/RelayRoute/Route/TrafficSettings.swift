/// The means that keep a route's requests from making an upstream's trouble worse; each can be switched off by itself.
public struct TrafficSettings: Sendable {
    /// When the circuit breaker stops traffic to an upstream that fails.
    public var breaker = BreakerSettings()
    /// How much of the load retries may be.
    public var budget = RetryBudgetSettings()
    /// How many attempts may be under way at once.
    public var window = WindowSettings()
    /// How the route heeds an upstream's word that there is too much.
    public var throttling = ThrottlingSettings()
    /// Nil sends as fast as there is work.
    public var rateLimit: RateLimitSettings?

    /// Every part switched on, but for the rate limit.
    public init() {}

    /// Every part switched off.
    public static var off: TrafficSettings {
        var settings = TrafficSettings()
        settings.breaker.isEnabled = false
        settings.budget.isEnabled = false
        settings.window.isEnabled = false
        settings.throttling.isEnabled = false
        return settings
    }

    /// Whether anything has to be asked before an attempt.
    package var isOff: Bool {
        !breaker.isEnabled && !budget.isEnabled && !window.isEnabled && !throttling.isEnabled
            && rateLimit == nil
    }
}

/// When the circuit breaker stops traffic to an upstream that fails.
///
/// Only what is the upstream's fault counts (``FailureCause/upstream``). Requests of a class that the upstream answers go on
/// while it is open.
public struct BreakerSettings: Sendable, Equatable {
    /// Whether it is on.
    public var isEnabled = true
    /// Whether it only tells what it would do.
    public var reports = false
    /// Share of failures among the attempts that are judged at which it opens: above 0, at most 1.
    ///
    /// Nearly nothing has to succeed: a part of the load is shed by the window and the budget.
    public var failureRatio = 0.95
    /// Attempts that must have been seen before the ratio counts: 2 to 10,000.
    public var minimumThroughput = 20
    /// How long an attempt is remembered: 1 s to 10 min.
    ///
    /// Nil judges those that ended in the last 2 s, and at least the last `minimumThroughput`, which are enough by themselves
    /// where all of them failed; with a ratio below 0.95, slow
    /// attempts that count, or a `minimumThroughput` above 64 those of the last 30 s.
    public var sampling: Duration?
    /// Failures one after the other at which it opens whatever the ratio: 1 to 10,000; nil counts none.
    public var consecutiveFailures: Int?
    /// Statuses of complete answers that count as failures besides 502, 503 and 504.
    public var statuses = StatusSet()
    /// How long it stays open before the first probe: 100 ms to 10 min; from then on a tenth of the time since it opened,
    /// where that is longer, less what the probe before has taken.
    public var breakDuration: Duration = .milliseconds(500)
    /// The longest it stays open between two probes: up to an hour.
    public var maxBreakDuration: Duration = .seconds(15)
    /// An attempt that takes longer is slow: 1 ms to 1 h; nil calls none slow.
    public var slowDuration: Duration?
    /// Share of slow attempts at which it opens: above 0, at most 1.
    public var slowRatio = 1.0

    /// The defaults of every property.
    public init() {}
}

/// How much of a route's load its own retries may be.
public struct RetryBudgetSettings: Sendable, Equatable {
    /// Whether it is on.
    public var isEnabled = true
    /// Whether it only tells what it would do.
    public var reports = false
    /// Retries, in percent of the other attempts of the last ten seconds: 0 to 100.
    public var percent = 10
    /// Retries that may be under way however small that share is: 0 to 1,000.
    ///
    /// Of kept jobs one may be in any case.
    public var floor = 3

    /// The defaults of every property.
    public init() {}
}

/// How many attempts may be under way at once, by how the upstream takes them.
public struct WindowSettings: Sendable, Equatable {
    /// Whether it is on.
    public var isEnabled = true
    /// Whether it only tells what it would do.
    public var reports = false
    /// Where it begins: 1 to 65,535; nil begins with all that the route allows.
    public var initial: Int?
    /// Where it begins anew after an outage: 1 to 65,535.
    public var afterOutage = 10

    /// The defaults of every property.
    public init() {}
}

/// How a route heeds an upstream's word that there is too much.
public struct ThrottlingSettings: Sendable, Equatable {
    /// Whether it is on.
    public var isEnabled = true
    /// The longest that one answer holds an upstream back: 1 s to 1 d.
    ///
    /// Nil takes the longest `maxRetryAfter` of the rules that retry 429 or 503 and honour the word, and 60 s where
    /// no rule retries those; where none of them honours it nothing is held back.
    public var longest: Duration?
    /// Whether it only tells what it would do.
    public var reports = false

    /// The defaults of every property.
    public init() {}
}

/// How fast a route sends.
public struct RateLimitSettings: Sendable, Equatable {
    /// Attempts in each `per`: 1 to 1,000,000.
    public var maxRequests: Int
    /// 1 ms to 1 d.
    public var per: Duration
    /// Attempts that may follow each other at once: 1 to 1,000,000.
    public var burst: Int
    /// Whether it only tells what it would do.
    public var reports = false

    /// So many attempts in each `per`, at most `burst` of them at once.
    public init(maxRequests: Int, per: Duration, burst: Int = 1) {
        self.maxRequests = maxRequests
        self.per = per
        self.burst = burst
    }
}

/// The parts of a route's traffic that may only tell what they would do.
package struct TrafficParts: Hashable, Sendable {
    private var bits: UInt8 = 0

    package init() {}

    private init(_ bits: UInt8) { self.bits = bits }

    package static var breaker: TrafficParts { TrafficParts(1) }
    package static var budget: TrafficParts { TrafficParts(2) }
    package static var window: TrafficParts { TrafficParts(4) }
    package static var rate: TrafficParts { TrafficParts(8) }
    package static var throttling: TrafficParts { TrafficParts(16) }

    package var isEmpty: Bool { bits == 0 }

    package func contains(_ part: TrafficParts) -> Bool { bits & part.bits != 0 }

    package mutating func insert(_ part: TrafficParts) { bits |= part.bits }

    /// Each with its key in the configuration.
    package static let names: [(part: TrafficParts, name: String)] = [
        (.breaker, "circuit_breaker"), (.budget, "retry_budget"), (.window, "adaptive_concurrency"),
        (.rate, "rate_limit"), (.throttling, "throttling"),
    ]

    /// The action of one of them, behind "would have".
    package var would: String {
        switch self {
        case .breaker: "held the attempt back, as the upstream fails"
        case .budget: "held the retry back, as retries are as much of the route's load as they may be"
        case .window: "had the attempt wait, as so many are under way"
        case .throttling: "held the attempt back, as the upstream has asked for patience"
        default: "had the attempt wait for its turn"
        }
    }
}

extension TrafficSettings {
    /// The parts that only tell what they would do.
    package var reporting: TrafficParts {
        var parts = TrafficParts()
        if breaker.isEnabled, breaker.reports { parts.insert(.breaker) }
        if budget.isEnabled, budget.reports { parts.insert(.budget) }
        if window.isEnabled, window.reports { parts.insert(.window) }
        if rateLimit?.reports ?? false { parts.insert(.rate) }
        if throttling.isEnabled, throttling.reports { parts.insert(.throttling) }
        return parts
    }
}
