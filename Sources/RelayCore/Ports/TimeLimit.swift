/// How long something may take, and what says so; for messages.
public struct TimeLimit: Sendable {
    /// What sets it: a key of the configuration, or a few words.
    public let name: StaticString
    /// How long; nil where only the moment is known.
    public let duration: Duration?

    /// Names a bound.
    public init(_ name: StaticString, _ duration: Duration? = nil) {
        self.name = name
        self.duration = duration
    }

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
        duration.map { "\(name) (\(DurationText.text($0)))" } ?? name.description
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
