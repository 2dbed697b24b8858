import Synchronization

/// A histogram that one loop fills, and that anybody may read.
package final class DurationCells: Sendable {
    private let buckets: InlineArray<16, Atomic<UInt64>>
    private let microseconds = Atomic<UInt64>(0)

    package init() { buckets = InlineArray { _ in Atomic(0) } }

    /// - Returns: the bucket it fell into.
    @inline(__always)
    @discardableResult
    package func took(_ duration: Duration, _ scale: DurationBuckets) -> Int {
        let taken = UInt64(max(0, duration.saturatedNanoseconds)) / 1_000
        let place = scale.place(of: taken)
        buckets[place].wrappingAdd(1, ordering: .relaxed)
        microseconds.wrappingAdd(taken, ordering: .relaxed)
        return place
    }

    @inline(__always)
    @discardableResult
    package func took(nanoseconds: Int64, _ scale: DurationBuckets) -> Int {
        let taken = UInt64(max(0, nanoseconds)) / 1_000
        let place = scale.place(of: taken)
        buckets[place].wrappingAdd(1, ordering: .relaxed)
        microseconds.wrappingAdd(taken, ordering: .relaxed)
        return place
    }

    package var counts: DurationCounts {
        var counts = DurationCounts()
        for place in 0..<DurationBuckets.count {
            counts.buckets[place] = buckets[place].load(ordering: .relaxed)
        }
        counts.microseconds = microseconds.load(ordering: .relaxed)
        return counts
    }
}
