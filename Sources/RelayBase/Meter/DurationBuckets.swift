/// The buckets of a histogram of durations: as many places for every one, some of them beyond the last bound.
package struct DurationBuckets: Sendable {
    /// Upper ends, each of them included, in microseconds; the greatest number where there is none.
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

    /// Of commits to a disk: from less than a fast one takes to where it fails.
    package static let commit = DurationBuckets(bounds: [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
        5_000_000,
    ])

    /// Of waits within the relay, which are short as long as all is well.
    package static let wait = DurationBuckets(bounds: [
        10_000, 100_000, 1_000_000, 10_000_000, 60_000_000, 3_600_000_000, .max, .max, .max, .max, .max, .max,
        .max, .max, .max,
    ])

    /// The bucket of a duration.
    @inline(__always)
    package func index(of microseconds: UInt64) -> Int {
        var index = 0
        while index < 15, microseconds > bounds[index] { index &+= 1 }
        return index
    }
}
