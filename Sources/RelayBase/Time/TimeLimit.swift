/// The name of what sets a bound: a key of the configuration, or a few words of the program's own.
///
/// One word instead of three: a request that waits holds many of them.
@safe package struct LimitName: Sendable {
    /// Part of the program, with a zero at its end.
    private nonisolated(unsafe) let start: UnsafePointer<UInt8>

    package init(_ text: StaticString) { unsafe start = text.utf8Start }

    package var text: String { unsafe String(cString: start) }
}

/// How long something may take, and what says so; for messages.
public struct TimeLimit: Sendable {
    private let limitName: LimitName
    /// `Int64.min` where only the moment is known.
    private let nanoseconds: Int64

    /// Names a bound; a duration beyond 292 years counts as that.
    public init(_ name: StaticString, _ duration: Duration? = nil) { self.init(LimitName(name), duration) }

    package init(_ name: LimitName, _ duration: Duration?) {
        limitName = name
        nanoseconds = duration?.saturatedNanoseconds ?? .min
    }

    /// The name of what sets it: a key of the configuration, or a few words.
    public var name: String { limitName.text }

    /// How long; nil where only the moment is known.
    public var duration: Duration? { nanoseconds == .min ? nil : .nanoseconds(nanoseconds) }

    /// A pace instead of a time: `timeouts.min_rate (1KiB/s)`.
    package static func minRate(_ floor: RateFloor) -> String {
        var (size, unit) = (floor.bytesPerSecond, "B")
        for larger in ["KiB", "MiB", "GiB"] where size > 0 && size % 1_024 == 0 {
            (size, unit) = (size / 1_024, larger)
        }
        return "timeouts.min_rate (\(size)\(unit)/s)"
    }

    /// `timeouts.attempt (5s)`.
    public var text: String {
        duration.map { "\(name) (\(DurationText.text($0)))" } ?? name
    }
}

/// A moment after which nothing of a job goes on, whatever moves, and what sets it.
package struct TimeBound: Sendable {
    package let moment: Instant
    package let limit: TimeLimit

    package init(_ moment: Instant, _ limit: TimeLimit) {
        self.moment = moment
        self.limit = limit
    }
}
