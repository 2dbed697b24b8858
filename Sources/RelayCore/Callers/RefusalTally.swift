package import RelayBase

/// Counts what a caller is refused, so that a flood is told of at once and then once a minute.
///
/// | second | refused | told |
/// |---|---|---|
/// | 0 | 1 | 1 |
/// | 1 to 59 | 100 each | – |
/// | 60 | – | 5,900 |
/// | 200 | 2 | 2 |
package struct RefusalTally: Sendable {
    private static let pause: Duration = .seconds(60)

    /// In all.
    package private(set) var total = 0
    private var untold = 0
    private var toldAt: Instant?

    package init() {}

    package mutating func refused() {
        total += 1
        untold += 1
    }

    /// Refusals that are to be told of now; nil when there are none, or the last were told of less than a minute ago.
    package mutating func take(_ now: Instant) -> Int? {
        guard untold > 0, toldAt.map({ $0.duration(to: now) >= RefusalTally.pause }) ?? true else {
            return nil
        }
        defer { untold = 0 }
        toldAt = now
        return untold
    }

    /// When there is something to tell; nil when there is not.
    package var due: Instant? {
        guard untold > 0 else { return nil }
        return toldAt?.advanced(by: RefusalTally.pause) ?? Instant(nanoseconds: .min)
    }

    /// Whether nothing is left to tell, and nothing would be told too often by beginning anew.
    package func isSettled(_ now: Instant) -> Bool {
        untold == 0 && toldAt.map { $0.duration(to: now) >= RefusalTally.pause } ?? true
    }
}
