import RelayBase

/// The turns of a line of requests that are left to kept jobs: every second one, and one that a request gave back.
struct LeftSlots: Sendable {
    /// The next of every second one; it is theirs where the line goes beyond it.
    var series: Instant
    /// One that is theirs beside those.
    var given: TakenSlot?
    /// For how long they are left to them.
    var until: Instant

    init(series: Instant, given: TakenSlot? = nil, until: Instant) {
        self.series = series
        self.given = given
        self.until = until
    }

    /// The next that they may have.
    var next: Instant { given.map { min($0.at, series) } ?? series }

    /// A kept job takes one of them at that moment, or later than it was; each is taken once.
    ///
    /// - Returns: false where there is none.
    mutating func take(at moment: Instant, every pair: Int64) -> Bool {
        if let given, given.at <= moment {
            self.given = nil
            return true
        }
        guard series <= moment else { return false }
        series = moment.advanced(by: .nanoseconds(pair))
        return true
    }

    /// A request has joined the line at its end, and has left the turn after its own.
    mutating func follow(_ turn: Instant, after end: Instant) {
        // Of those before it some are left, and this one is among them.
        if series >= end { series = turn }
    }
}
