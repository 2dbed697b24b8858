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

    /// The durations that have come since `earlier`; none where there were more then.
    package func since(_ earlier: DurationCounts) -> DurationCounts {
        func rest(_ now: UInt64, _ before: UInt64) -> UInt64 { now > before ? now - before : 0 }
        var since = DurationCounts()
        for place in buckets.indices { since.buckets[place] = rest(buckets[place], earlier.buckets[place]) }
        since.microseconds = rest(microseconds, earlier.microseconds)
        return since
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
            let upTo = before &+ buckets[place]
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
