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
        let index = scale.index(of: taken)
        buckets[index].wrappingAdd(1, ordering: .relaxed)
        microseconds.wrappingAdd(taken, ordering: .relaxed)
        return index
    }

    @inline(__always)
    @discardableResult
    package func took(nanoseconds: Int64, _ scale: DurationBuckets) -> Int {
        let taken = UInt64(max(0, nanoseconds)) / 1_000
        let index = scale.index(of: taken)
        buckets[index].wrappingAdd(1, ordering: .relaxed)
        microseconds.wrappingAdd(taken, ordering: .relaxed)
        return index
    }

    package var counts: DurationCounts {
        var counts = DurationCounts()
        for index in 0..<DurationBuckets.count {
            counts.buckets[index] = buckets[index].load(ordering: .relaxed)
        }
        counts.microseconds = microseconds.load(ordering: .relaxed)
        return counts
    }
}
