import RelayBase
import Synchronization

/// One duration of a bucket, and the trace in which it can be looked at.
package struct TraceExemplar: Sendable, Equatable {
    package let trace: TraceID
    package let microseconds: UInt64
    /// When it was noted, in milliseconds since 1970 UTC.
    package let wall: Int64

    package init(trace: TraceID, microseconds: UInt64, wall: Int64) {
        self.trace = trace
        self.microseconds = microseconds
        self.wall = wall
    }
}

/// The last exemplar of each bucket of one histogram.
///
/// Readers wait for nobody, and writers neither: whoever meets another one leaves its exemplar out.
final class ExemplarCells: Sendable {
    /// The version is odd while it is written, and zero where there is none.
    private struct Cell: ~Copyable {
        let version = Atomic<UInt64>(0)
        let high = Atomic<UInt64>(0)
        let low = Atomic<UInt64>(0)
        let microseconds = Atomic<UInt64>(0)
        let wall = Atomic<Int64>(0)
        /// None is wanted before then, in nanoseconds of the monotonic clock.
        let due = Atomic<Int64>(.min)
    }

    private let cells: InlineArray<16, Cell>

    init() { cells = InlineArray { _ in Cell() } }

    /// Whether a new one is wanted there: once a second is more than anybody asks.
    @inline(__always)
    func wants(_ place: Int, _ now: Instant) -> Bool {
        cells[place].due.load(ordering: .relaxed) <= now.nanoseconds
    }

    func note(_ exemplar: TraceExemplar, in place: Int, _ now: Instant) {
        cells[place].due.store(now.nanoseconds &+ 1_000_000_000, ordering: .relaxed)
        let before = cells[place].version.load(ordering: .relaxed)
        guard before & 1 == 0,
            cells[place].version.compareExchange(expected: before, desired: before | 1, ordering: .acquiring)
                .exchanged
        else { return }
        // No reader may see what follows with the version of before.
        atomicMemoryFence(ordering: .releasing)
        cells[place].high.store(exemplar.trace.high, ordering: .relaxed)
        cells[place].low.store(exemplar.trace.low, ordering: .relaxed)
        cells[place].microseconds.store(exemplar.microseconds, ordering: .relaxed)
        cells[place].wall.store(exemplar.wall, ordering: .relaxed)
        cells[place].version.store(before &+ 2, ordering: .releasing)
    }

    /// Nil where there is none, or where it is being written.
    func exemplar(in place: Int) -> TraceExemplar? {
        let before = cells[place].version.load(ordering: .acquiring)
        guard before != 0, before & 1 == 0 else { return nil }
        let exemplar = TraceExemplar(
            trace: TraceID(
                high: cells[place].high.load(ordering: .relaxed),
                low: cells[place].low.load(ordering: .relaxed)
            ),
            microseconds: cells[place].microseconds.load(ordering: .relaxed),
            wall: cells[place].wall.load(ordering: .relaxed)
        )
        atomicMemoryFence(ordering: .acquiring)
        return cells[place].version.load(ordering: .relaxed) == before ? exemplar : nil
    }
}
