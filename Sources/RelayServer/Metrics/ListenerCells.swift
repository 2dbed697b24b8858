import RelayBase
import Synchronization

/// The counts of one loop for a listener's callers: answers by class of status, and connections.
package final class ListenerCells: Sendable {
    private let counts: InlineArray<5, Atomic<UInt64>>

    private let present = Atomic<Int>(0)

    init() { counts = InlineArray { _ in Atomic(0) } }

    @inline(__always)
    func count(_ status: Status) {
        counts[min(4, max(0, Int(status.rawValue) / 100 - 1))].wrappingAdd(1, ordering: .relaxed)
    }

    func opened() { present.wrappingAdd(1, ordering: .relaxed) }
    func closed() { present.wrappingSubtract(1, ordering: .relaxed) }

    /// Connections that are open, also those that were refused and are heard to their end.
    package var connections: Int { present.load(ordering: .relaxed) }

    /// From 1xx to 5xx.
    package var classes: [UInt64] { (0..<5).map { counts[$0].load(ordering: .relaxed) } }
}
