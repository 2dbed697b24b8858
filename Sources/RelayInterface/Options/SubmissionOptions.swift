public import RelayBase

/// How a job is kept and delivered; nil leaves a value to the route, or to the default that is named.
///
/// Durations are sent in whole milliseconds; a fraction is dropped.
public struct SubmissionOptions: Sendable {
    /// Makes it safe to send a request again: the relay keeps one job per key, user and route.
    ///
    /// Printable ASCII without blanks around it, 1…256 bytes. Without a key, sending again after a lost answer may make a
    /// second job.
    public var idempotencyKey: String?
    /// The time for all attempts and waits together, 1 ms…365 days, after which a kept job expires; the route's limit
    /// holds where it is shorter.
    public var timeout: Duration?
    /// The time for one attempt, 1 ms…365 days; the route's limit holds where it is shorter.
    public var attemptTimeout: Duration?
    /// The most attempts that may be sent, 1…100, the first one included; the route's limit holds where it is lower.
    public var maxAttempts: Int?
    /// Whether failover, placeholders, fallbacks and stale answers may be used; nil means true.
    public var fallback: Bool?
    /// The treatment of the request while the network is constrained: `send`, `wait` or `refuse`; the route's word holds
    /// where that sends less.
    public var constrained: ConstrainedUse?
    /// How long the job is put off, up to 365 days; excludes `notBefore`.
    public var delay: Duration?
    /// The moment before which the job is not sent, at most 365 days ahead; excludes `delay`.
    public var notBefore: WallTime?
    /// How long after its acceptance the job may be delivered, 1 second…365 days; the route's limit holds where it is
    /// shorter.
    public var expiresAfter: Duration?
    /// The urgency of RFC 9218: 0 is sent first, 7 last; nil means 3.
    public var priority: Int?
    /// Jobs of the same user and route with the same key are delivered one at a time and in order.
    ///
    /// 1…256 bytes without control characters, and without blanks around them.
    public var orderingKey: String?
    /// A new job cancels the waiting jobs of the same user and route with the same key.
    ///
    /// 1…256 bytes without control characters, and without blanks around them.
    public var supersedeKey: String?
    /// Labels to find the job by: at most 16, each at most 256 bytes as `name=value`.
    public var labels: [String: String] = [:]
    /// Labels as they were written, each as `name=value`; they are sent behind `labels`.
    package var writtenLabels: [String] = []

    /// Leaves everything to the route.
    public init() {}
}
