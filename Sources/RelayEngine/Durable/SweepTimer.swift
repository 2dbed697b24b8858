import RelayBase
import RelayCore

/// The pause between two sweeps: a second while something moves, and otherwise until something is due or somebody stirs.
final class SweepTimer: Sendable {
    /// Between two sweeps at the least.
    static let shortest: Duration = .seconds(1)
    /// The disk is looked at as often, whatever is due.
    static let longest: Duration = .seconds(60)

    private let stirred = Pending<Void>()

    /// A sweep begins: what stirs from here on, it may not see.
    func begin() { stirred.reset() }

    /// The store may have changed.
    func stir() { stirred.give(()) }

    /// Returns when the sweep that began then is to be followed by another one; nothing is due for `idleTime` from now on.
    ///
    /// - Throws: when the task is cancelled.
    func sleep(
        after began: Instant,
        idleTime: Duration,
        _ time: any TimeSource
    ) async throws(CancellationError) {
        let deadline = time.now().advanced(by: min(idleTime, SweepTimer.longest))
        if idleTime > SweepTimer.shortest {
            _ = await cancelling(at: deadline, time) { await self.stirred.valueUnlessCancelled() }
        }
        // One sweep looks at all changes that come close together.
        try await time.sleep(until: began.advanced(by: SweepTimer.shortest))
    }
}
