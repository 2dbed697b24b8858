import RelayBase

/// A moment of the wall clock, to the millisecond.
public struct WallTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    public var milliseconds: Int64

    /// - Parameter milliseconds: since 1970-01-01 00:00:00 UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Reads a date and time of RFC 3339 with its zone, such as `2026-11-21T04:29:43.250Z`; nil when it is not
    /// well-formed or names no moment.
    public init?(_ text: String) {
        guard let milliseconds = UTCTime.milliseconds(parsing: text) else { return nil }
        self.milliseconds = milliseconds
    }

    /// RFC 3339, UTC, with milliseconds; clamped to the years 1970 to 9999.
    public var description: String { UTCTime.format(milliseconds: milliseconds) }

    /// Whether `lhs` is earlier.
    public static func < (lhs: WallTime, rhs: WallTime) -> Bool { lhs.milliseconds < rhs.milliseconds }
}
