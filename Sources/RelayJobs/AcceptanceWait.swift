import Synchronization

/// Settles between a caller that waits for its job to be accepted and the store which of them was first: the caller to
/// give up, or the job to be on disk.
package final class AcceptanceWait: Sendable {
    private enum Standing {
        static let open: UInt8 = 0
        static let landed: UInt8 = 1
        static let givenUp: UInt8 = 2
        /// The store has asked for what it cannot take back.
        static let sent: UInt8 = 3
        /// The caller has given up after that.
        static let inDoubt: UInt8 = 4
    }

    private let standing = Atomic<UInt8>(Standing.open)

    package init() {}

    /// The caller waits no longer.
    ///
    /// - Returns: false when the store was first, and the answer is on its way.
    package func giveUp() -> Bool {
        change(Standing.open, Standing.givenUp) || change(Standing.sent, Standing.inDoubt)
    }

    /// The store asks for what it cannot take back and may not hear the end of, such as a COMMIT over a network.
    ///
    /// A caller that gives up from then on is told that nobody knows what became of the job, which stays where it was
    /// accepted.
    ///
    /// - Returns: false when nobody waits any more; it is not to be asked for then.
    package func send() -> Bool { change(Standing.open, Standing.sent) }

    /// The store's word is on disk.
    ///
    /// - Returns: false when nobody waits for it any more.
    package func land() -> Bool {
        change(Standing.open, Standing.landed) || change(Standing.sent, Standing.landed)
    }

    package var isGivenUp: Bool {
        let standing = standing.load(ordering: .acquiring)
        return standing == Standing.givenUp || standing == Standing.inDoubt
    }

    /// Whether the caller has given up when the store could no longer take the job back.
    package var isInDoubt: Bool { standing.load(ordering: .acquiring) == Standing.inDoubt }

    private func change(_ present: UInt8, _ wanted: UInt8) -> Bool {
        standing.compareExchange(expected: present, desired: wanted, ordering: .acquiringAndReleasing)
            .exchanged
    }
}
