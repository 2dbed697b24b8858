package import RelayBase

/// An operation that an upstream has begun for a job, as long as it is followed.
package struct BegunOperation: Sendable {
    /// Path and query at the upstream's origin.
    package let target: String
    /// Whether what stands there has a status of its own, and is not the result.
    package let isMonitor: Bool
    /// The name of the upstream.
    package let upstream: String
    /// When it began, in milliseconds since 1970 UTC.
    package let beganAt: Int64
    /// The last look that came to nothing, as far as it is on record.
    package var trouble: Failure?

    package init(_ target: String, isMonitor: Bool, upstream: String, beganAt: Int64) {
        (self.target, self.isMonitor) = (target, isMonitor)
        (self.upstream, self.beganAt) = (upstream, beganAt)
    }

    /// Of an attempt that has begun it, as `reference` has its address.
    init(_ reference: String, _ attempt: Attempt) {
        isMonitor = reference.utf8.last == UInt8(ascii: "#")
        target = isMonitor ? String(reference.dropLast()) : reference
        upstream = attempt.upstream
        beganAt = attempt.beganAt &+ attempt.duration.saturatedNanoseconds / 1_000_000
    }

    /// Its address on record: a number sign, which no target has, behind that of one with a status.
    package var reference: String { isMonitor ? target + "#" : target }

    /// How old it is at that moment of the wall clock, which may have been set back since.
    package func age(_ wall: Int64) -> Duration { .milliseconds(max(0, wall.subtractingSaturating(beganAt))) }

    /// Its upstream among those of a route; nil where the route has it no more.
    package func index(among upstreams: [String]) -> Int? {
        upstreams.count == 1 ? 0 : upstreams.firstIndex(of: upstream)
    }
}
