import RelayBase

/// The database's clock as a node knows it: its own monotonic clock and how far the database's is ahead.
///
/// Each reply tells a time that lay between the sending of its statement and the reply, so that the true distance lies
/// between two bounds; the clock keeps the narrowest that it has seen lately.
struct FleetClock: Equatable, Sendable {
    /// Bounds of how far the database's milliseconds since 1970 are ahead of monotonic milliseconds.
    private(set) var low = Int64.min
    private(set) var high = Int64.max
    /// When the bounds were set anew, in monotonic milliseconds.
    private var since: Int64 = 0

    /// The time after which old bounds count no more: clocks drift, and a database's may be stepped.
    static let memory: Int64 = 60_000

    init() {}

    var isKnown: Bool { low != .min }

    /// The database said `time`; the statement was sent at `sent` and answered at `received`, in monotonic milliseconds.
    mutating func observe(_ time: Int64, sent: Int64, received: Int64) {
        let (from, to) = (time &- received, time &- sent)
        if received - since > Self.memory || from > high || to < low {
            (low, high, since) = (from, to, received)
        } else {
            (low, high) = (max(low, from), min(high, to))
        }
    }

    /// Milliseconds since 1970 UTC by the database's clock; behind it by a round trip at most and never ahead: what is due by
    /// it is due there, and a bound that is narrowed does not set it back.
    func time(at steady: Int64) -> Int64 { steady &+ low }
}
