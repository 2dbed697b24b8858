import Synchronization

/// The figures of one upstream of a route since the daemon started; they outlive a reload that keeps its name.
package final class UpstreamMeter: Sendable {
    package let name: String
    private let lanes: [Lane]

    private final class Lane: Sendable {
        let succeeded = Atomic<UInt64>(0)
        let attempts = DurationCells()
    }

    package init(_ name: String, lanes: Int) {
        self.name = name
        self.lanes = (0..<lanes).map { _ in Lane() }
    }

    package func count(_ attempt: Attempt, lane: Int) {
        guard lanes.indices.contains(lane) else { return }
        if attempt.failure == nil { lanes[lane].succeeded.wrappingAdd(1, ordering: .relaxed) }
        // An attempt that was never dialled took no time of the upstream's.
        if attempt.failure == nil || attempt.exchange != nil {
            lanes[lane].attempts.took(attempt.duration, .latency)
        }
    }

    package func countPlain(_ taken: Int64, lane: Int) {
        guard lanes.indices.contains(lane) else { return }
        lanes[lane].succeeded.wrappingAdd(1, ordering: .relaxed)
        lanes[lane].attempts.took(nanoseconds: taken, .latency)
    }

    package var succeeded: UInt64 { lanes.reduce(0) { $0 &+ $1.succeeded.load(ordering: .relaxed) } }

    /// How long attempts took that were dialled.
    package var attempts: DurationCounts {
        lanes.reduce(into: DurationCounts()) { $0 += $1.attempts.counts }
    }
}
