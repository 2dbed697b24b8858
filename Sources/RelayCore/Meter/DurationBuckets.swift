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
    package func place(of microseconds: UInt64) -> Int {
        var place = 0
        while place < 15, microseconds > bounds[place] { place &+= 1 }
        return place
    }
}

/// How many durations there were of which length, and their sum.
package struct DurationCounts: Sendable, Hashable {
    /// By bucket; the last one is beyond all bounds.
    package var buckets = [UInt64](repeating: 0, count: DurationBuckets.count)
    package var microseconds: UInt64 = 0

    package init() {}

    package var count: UInt64 { buckets.reduce(0, &+) }

    package static func += (sum: inout DurationCounts, more: DurationCounts) {
        for place in sum.buckets.indices { sum.buckets[place] &+= more.buckets[place] }
        sum.microseconds &+= more.microseconds
    }

    /// What has come since `earlier`.
    package func since(_ earlier: DurationCounts) -> DurationCounts {
        var rest = self
        for place in rest.buckets.indices { rest.buckets[place] &-= earlier.buckets[place] }
        rest.microseconds &-= earlier.microseconds
        return rest
    }

    /// The duration, in microseconds, that the fraction `share` of them did not exceed; nil when there are none.
    ///
    /// Within its bucket they count as evenly spread, as in Prometheus' `histogram_quantile`; beyond the last bound it
    /// is that bound.
    package func quantile(_ share: Double, _ scale: DurationBuckets) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        let rank = share * Double(total)
        var before: UInt64 = 0
        for place in 0..<15 {
            let upTo = before + buckets[place]
            if Double(upTo) >= rank, buckets[place] > 0 {
                let low = place == 0 ? 0 : Double(scale.bounds[place - 1])
                let high = Double(scale.bounds[place])
                return low + (high - low) * (rank - Double(before)) / Double(buckets[place])
            }
            before = upTo
        }
        return Double(scale.bounds[14])
    }
}
