/// The buckets of a histogram of durations: as many bounds for every one, and one bucket beyond the last.
package struct DurationBuckets: Sendable {
    /// Upper ends, each of them included, in microseconds.
    package let bounds: InlineArray<15, UInt64>

    /// How many buckets there are.
    package static let count = 16

    /// Of answers and attempts: from a millisecond to a minute.
    package static let latency = DurationBuckets(bounds: [
        1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000,
        10_000_000, 30_000_000, 60_000_000,
    ])

    /// Of kept jobs, which may wait for days.
    package static let lifetime = DurationBuckets(bounds: [
        100_000, 500_000, 1_000_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000, 300_000_000, 900_000_000,
        1_800_000_000, 3_600_000_000, 14_400_000_000, 43_200_000_000, 86_400_000_000, 172_800_000_000,
    ])

    /// The bucket of a duration.
    @inline(__always)
    package func index(of microseconds: UInt64) -> Int {
        var index = 0
        while index < 15, microseconds > bounds[index] { index &+= 1 }
        return index
    }
}
