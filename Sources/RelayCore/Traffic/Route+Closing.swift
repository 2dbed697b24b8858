package import RelayBase
package import RelayRoute

extension Route {
    /// The hold of a planned window; nil while the route is open.
    ///
    /// `wall` is `now` in milliseconds since 1970 UTC.
    package func closing(_ now: Instant, wall: Int64) -> AttemptDeferral? {
        guard let closed = policy.closed, let end = closed.end(at: wall / 1_000) else { return nil }
        let left = Duration.milliseconds(max(1, end &* 1_000 &- wall))
        return AttemptDeferral(reason: .routeClosed, until: now.advanced(by: left))
    }
}
