/// A point on the monotonic clock, in nanoseconds.
///
/// Points compare only within one run of the process; what must survive a restart is kept as wall time.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since a moment that is the same for one run of the process.
    public var nanoseconds: Int64

    /// The moment so many nanoseconds after the clock's beginning.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Whether `lhs` is earlier.
    public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    /// The moment after that duration; saturates at the end of the clock instead of trapping.
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.saturatedNanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .max : .min) : sum)
    }

    /// The moment before it by that duration; saturates like `advanced`.
    package func before(by duration: Duration) -> Instant {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(duration.saturatedNanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .min : .max) : difference)
    }

    /// The time from this moment to `other`; negative when `other` is earlier.
    public func duration(to other: Instant) -> Duration {
        Duration(attoseconds: Int128(other.nanoseconds &- nanoseconds) &* 1_000_000_000)
    }

    /// The end of the clock.
    public static let distantFuture = Instant(nanoseconds: .max)
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to what 64 bits hold (about 292 years).
    package var saturatedNanoseconds: Int64 {
        let all = attoseconds
        let high = UInt64(truncatingIfNeeded: all >> 64)
        // Ordinary durations, in one division instead of two of 128 bits.
        if high < 500_000_000 {
            let divisor: UInt64 = 1_000_000_000
            return Int64(divisor.dividingFullWidth((high, UInt64(truncatingIfNeeded: all))).quotient)
        }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}
