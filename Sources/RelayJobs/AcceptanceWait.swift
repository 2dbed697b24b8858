import Synchronization

/// Settles between a caller that waits for its job to be accepted and the store which of them was first: the caller to
/// give up, or the job to be on disk.
package final class AcceptanceWait: Sendable {
    private enum Standing {
        static let open: UInt8 = 0
        static let landed: UInt8 = 1
        static let givenUp: UInt8 = 2
    }

    private let standing = Atomic<UInt8>(Standing.open)

    package init() {}

    /// The caller waits no longer.
    ///
    /// - Returns: false when the store was first, and the answer is on its way.
    package func giveUp() -> Bool { settle(Standing.givenUp) }

    /// The store's word is on disk.
    ///
    /// - Returns: false when nobody waits for it any more.
    package func land() -> Bool { settle(Standing.landed) }

    package var isGivenUp: Bool { standing.load(ordering: .acquiring) == Standing.givenUp }

    private func settle(_ wanted: UInt8) -> Bool {
        standing.compareExchange(expected: Standing.open, desired: wanted, ordering: .acquiringAndReleasing)
            .exchanged
    }
}
