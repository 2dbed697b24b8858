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

    /// `timeouts.attempt (5s)`.
    public var text: String {
        duration.map { "\(name) (\(DurationText.text($0)))" } ?? name.description
    }
}
