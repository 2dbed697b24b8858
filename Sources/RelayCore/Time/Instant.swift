/// A point on the monotonic clock, in nanoseconds.
///
/// Points compare only within one run of the process; what must survive a restart is kept as wall time.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    /// Saturates at the end of the clock instead of trapping.
    package func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.saturatedNanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .max : .min) : sum)
    }

    package func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds &- nanoseconds)
    }

    package static let distantFuture = Instant(nanoseconds: .max)
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to what 64 bits hold (about 292 years).
    package var saturatedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}
