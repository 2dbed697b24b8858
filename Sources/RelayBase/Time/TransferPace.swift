/// Bytes a second that content has to come at, as long as somebody waits for it.
package struct RateFloor: Sendable, Equatable {
    /// Zero where any pace will do.
    package let bytesPerSecond: Int64
    /// Nanoseconds over which the pace is averaged.
    package let window: Int64

    /// A pause that `idle` allows is no reason by itself: the average is over no less than that.
    package init(bytesPerSecond: Int, idle: Duration) {
        self.bytesPerSecond = Int64(max(0, bytesPerSecond))
        window = max(RateFloor.shortest, idle.saturatedNanoseconds)
    }

    /// Any pace will do.
    package static let none = RateFloor(bytesPerSecond: 0, idle: .zero)

    private static let shortest: Int64 = 30_000_000_000
}

/// How fast content comes, one window after the other; only the time in which it is waited for counts.
package struct TransferPace: Sendable {
    private var waited: Int64 = 0
    private var bytes: Int64 = 0

    package init() {}

    /// So many bytes have come after a wait of so many nanoseconds.
    ///
    /// - Returns: whether the window that has ended by that was slower than it may be.
    package mutating func isTooSlow(_ count: Int, after wait: Int64, _ floor: RateFloor) -> Bool {
        guard floor.bytesPerSecond > 0 else { return false }
        waited &+= max(0, wait)
        bytes &+= Int64(count)
        guard waited >= floor.window else { return false }
        defer { self = TransferPace() }
        let (wanted, isMore) = floor.bytesPerSecond.multipliedReportingOverflow(by: waited / 1_000_000)
        return isMore || bytes < wanted / 1_000
    }
}
