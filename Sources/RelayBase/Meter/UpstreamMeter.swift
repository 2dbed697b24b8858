import Synchronization

/// The figures of one upstream of a route since the daemon started; they outlive a reload that keeps its name.
package final class UpstreamMeter: Sendable {
    package let name: String
    private let shards: [Shard]

    private final class Shard: Sendable {
        let succeeded = Atomic<UInt64>(0)
        let attempts = DurationCells()
        let connections: InlineArray<5, Atomic<UInt64>>

        init() { connections = InlineArray { _ in Atomic(0) } }

        func add(_ figure: Connecting, _ more: UInt64 = 1) {
            connections[figure.rawValue].wrappingAdd(more, ordering: .relaxed)
        }
    }

    /// The figures of the connections that attempts went out on.
    package enum Connecting: Int {
        /// Attempts for which there was one already.
        case reused
        case opened
        /// The time that connections took which were opened.
        case microseconds
        case fullHandshakes, resumedHandshakes
    }

    package init(_ name: String, shards: Int) {
        self.name = name
        self.shards = (0..<shards).map { _ in Shard() }
    }

    package func count(_ attempt: Attempt, shard: Int) {
        guard shards.indices.contains(shard) else { return }
        if attempt.failure == nil { shards[shard].succeeded.wrappingAdd(1, ordering: .relaxed) }
        // An attempt that was never dialled took no time of the upstream's.
        guard attempt.failure == nil || attempt.exchange != nil else { return }
        shards[shard].attempts.took(attempt.duration, .latency)
        guard let exchange = attempt.exchange else { return }
        if exchange.wasReused { shards[shard].add(.reused) } else { countOpened(exchange, shards[shard]) }
    }

    @inline(never)
    private func countOpened(_ exchange: Exchange, _ cells: Shard) {
        guard exchange.connect > .zero else { return }
        cells.add(.opened)
        cells.add(.microseconds, UInt64(exchange.connect.saturatedNanoseconds) / 1_000)
        switch exchange.handshake {
        case .full?: cells.add(.fullHandshakes)
        case .resumed?: cells.add(.resumedHandshakes)
        case nil: break
        }
    }

    /// Of a request that was passed through, for which there was a connection already.
    package func countPlain(_ taken: Int64, shard: Int) {
        guard shards.indices.contains(shard) else { return }
        shards[shard].succeeded.wrappingAdd(1, ordering: .relaxed)
        shards[shard].attempts.took(nanoseconds: taken, .latency)
        shards[shard].add(.reused)
    }

    package subscript(figure: Connecting) -> UInt64 {
        shards.reduce(0) { $0 &+ $1.connections[figure.rawValue].load(ordering: .relaxed) }
    }

    package var succeeded: UInt64 { shards.reduce(0) { $0 &+ $1.succeeded.load(ordering: .relaxed) } }

    /// How long attempts took that were dialled.
    package var attempts: DurationCounts {
        shards.reduce(into: DurationCounts()) { $0 += $1.attempts.counts }
    }
}
