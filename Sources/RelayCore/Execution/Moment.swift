package import RelayBase

/// The facts that a machine has to know of the world at the moment of an event.
package struct Moment: Sendable {
    /// The monotonic clock.
    package var now: Instant
    /// Milliseconds since 1970 UTC.
    package var wall: Int64
    /// Whether nobody wants the job any more.
    package var isCancelled: Bool

    package init(now: Instant, wall: Int64, isCancelled: Bool = false) {
        self.now = now
        self.wall = wall
        self.isCancelled = isCancelled
    }

    var wallSeconds: Int64 { wall / 1000 }
}

/// The shared state of a route's jobs that a decision draws on, and a random number.
package struct RouteRecall: Sendable {
    /// Upstreams, as indices of the route's list, that failed so recently that no rule may enter them.
    package var cooling: [Int] = []
    /// The last good answer to the same request.
    package var stale: HTTPResponse?
    /// How long no credential is fetched, since the upstream refused a fresh one; nil when one may be.
    package var refreshHeld: Duration?
    /// Whether the route's retries have room for another.
    package var hasBudget = true
    /// Uniform in all of `UInt64`.
    package var random: UInt64

    package init(random: UInt64) { self.random = random }
}
