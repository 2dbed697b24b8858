import RelayBase

/// Events of the last so long, counted in ten slices: the older ones go a slice at a time.
struct RollingCounts: Sendable {
    /// The counts of a slice, or of all of them.
    struct Counts: Sendable, Equatable {
        var all: UInt32 = 0
        var bad: UInt32 = 0
        var slow: UInt32 = 0
    }

    private static let slices = 10

    private let slice: Int64
    private var counts = InlineArray<10, Counts>(repeating: Counts())
    /// The slice that is being filled, counted from the beginning of time.
    private var current: Int64 = 0
    private(set) var total = Counts()

    init(over duration: Duration) {
        slice = max(1, duration.saturatedNanoseconds / Int64(RollingCounts.slices))
    }

    /// Whether so long is counted.
    func covers(_ duration: Duration) -> Bool {
        slice == max(1, duration.saturatedNanoseconds / Int64(RollingCounts.slices))
    }

    mutating func add(bad: Bool = false, slow: Bool = false, _ now: Instant) {
        advance(to: now)
        let index = Int(current % Int64(RollingCounts.slices))
        counts[index].all &+= 1
        total.all &+= 1
        if bad {
            counts[index].bad &+= 1
            total.bad &+= 1
        }
        if slow {
            counts[index].slow &+= 1
            total.slow &+= 1
        }
    }

    /// One of them was none after all.
    mutating func takeBack(_ now: Instant) {
        advance(to: now)
        let index = Int(current % Int64(RollingCounts.slices))
        guard counts[index].all > 0 else { return }
        counts[index].all &-= 1
        total.all &-= 1
    }

    /// Forgets what is too old.
    mutating func advance(to now: Instant) {
        let slice = now.nanoseconds / slice
        guard slice > current else { return }
        for passed in 0..<min(slice - current, Int64(RollingCounts.slices)) {
            let index = Int((slice - passed) % Int64(RollingCounts.slices))
            total.all &-= counts[index].all
            total.bad &-= counts[index].bad
            total.slow &-= counts[index].slow
            counts[index] = Counts()
        }
        current = slice
    }

    mutating func clear() {
        counts = InlineArray(repeating: Counts())
        total = Counts()
    }
}
