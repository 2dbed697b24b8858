/// How a job is kept and delivered; nil leaves an option to the route.
public struct SubmissionOptions: Sendable {
    /// Makes handing the same request over again harmless: the relay keeps one job for a key, a user and a route.
    ///
    /// Printable ASCII without blanks around it, 1…256 bytes. Without one, a submission whose answer is lost may have
    /// been accepted.
    public var idempotencyKey: String?
    /// The longest that all attempts and waits may take together, 1 ms…365 days; a kept job expires then.
    public var timeout: Duration?
    /// The longest that one attempt may take, 1 ms…365 days.
    public var attemptTimeout: Duration?
    /// The most attempts that reach the wire, 1…100, the first one included.
    public var maxAttempts: Int?
    /// False keeps failover, placeholders, fallbacks and stale answers from acting; nil counts as true.
    public var fallback: Bool?
    /// How long the job is put off, in whole milliseconds up to 365 days; excludes `notBefore`.
    public var delay: Duration?
    /// The moment before which the job is not sent, within 365 days; excludes `delay`.
    public var notBefore: WallTime?
    /// How long the job is worth delivering, from its acceptance; whole milliseconds, 1 second…365 days.
    public var expiresAfter: Duration?
    /// Urgency (RFC 9218): 0 first, 7 last; nil counts as 3.
    public var priority: Int?
    /// Jobs of a route with the same key are delivered one at a time and in order.
    ///
    /// 1…256 bytes without control characters, and without blanks around them.
    public var orderingKey: String?
    /// A newer job of the route with the same key cancels those that still wait.
    ///
    /// 1…256 bytes without control characters, and without blanks around them.
    public var supersedeKey: String?
    /// Labels that find the job; at most 16, each at most 256 bytes as `name=value`.
    public var labels: [String: String] = [:]
    /// Labels as they were written, each as `name=value`.
    package var writtenLabels: [String] = []

    /// Leaves everything to the route.
    public init() {}
}
