/// Bounds on what one caller may take of what all share; nil bounds nothing.
package struct CallerLimits: Sendable, Equatable {
    /// Whether callers are told apart where they wait for each other.
    package var isEnabled = true
    /// Requests under way over all routes, those that wait for a permit or for their body included.
    package var maxRequests: Int?
    /// Bytes of bodies in memory and in the spool.
    package var maxBytes: Int?
    /// Jobs on disk that are not over.
    package var maxQueuedJobs: Int?
    /// How fast requests may come.
    package var rate: RateLimitSettings?

    package init() {}
}

/// A bound that a caller can come to.
package enum CallerBound: String, CaseIterable, Sendable {
    /// The requests that all callers together may have under way.
    case allRequests = "limits.max_requests"
    case requests = "limits.per_user.max_requests"
    case bytes = "limits.per_user.max_bytes"
    case queuedJobs = "limits.per_user.max_queued_jobs"
    case rate = "limits.per_user.rate"
    /// All but an eighth of a route's permits, with answers that stream.
    case streams = "concurrency.max_requests"
}
