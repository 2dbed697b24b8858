import RelayCore
import Synchronization

/// How many answers one loop has written to a listener's callers, by class of status.
package final class StatusCells: Sendable {
    private let counts: InlineArray<5, Atomic<UInt64>>

    init() { counts = InlineArray { _ in Atomic(0) } }

    @inline(__always)
    func count(_ status: Status) {
        counts[min(4, max(0, Int(status.rawValue) / 100 - 1))].wrappingAdd(1, ordering: .relaxed)
    }

    /// From 1xx to 5xx.
    package var classes: [UInt64] { (0..<5).map { counts[$0].load(ordering: .relaxed) } }
}
