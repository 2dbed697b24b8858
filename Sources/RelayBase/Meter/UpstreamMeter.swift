import Synchronization

/// The figures of one upstream of a route since the daemon started; they outlive a reload that keeps its name.
package final class UpstreamMeter: Sendable {
    package let name: String
    private let shards: [Shard]

    private final class Shard: Sendable {
        let succeeded = Atomic<UInt64>(0)
        let attempts = DurationCells()
    }

    package init(_ name: String, shards: Int) {
        self.name = name
        self.shards = (0..<shards).map { _ in Shard() }
    }

    package func count(_ attempt: Attempt, shard: Int) {
        guard shards.indices.contains(shard) else { return }
        if attempt.failure == nil { shards[shard].succeeded.wrappingAdd(1, ordering: .relaxed) }
        // An attempt that was never dialled took no time of the upstream's.
        if attempt.failure == nil || attempt.exchange != nil {
            shards[shard].attempts.took(attempt.duration, .latency)
        }
    }

    package func countPlain(_ taken: Int64, shard: Int) {
        guard shards.indices.contains(shard) else { return }
        shards[shard].succeeded.wrappingAdd(1, ordering: .relaxed)
        shards[shard].attempts.took(nanoseconds: taken, .latency)
    }

    package var succeeded: UInt64 { shards.reduce(0) { $0 &+ $1.succeeded.load(ordering: .relaxed) } }

    /// How long attempts took that were dialled.
    package var attempts: DurationCounts {
        shards.reduce(into: DurationCounts()) { $0 += $1.attempts.counts }
    }
}
