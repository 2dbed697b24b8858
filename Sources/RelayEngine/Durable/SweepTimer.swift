import RelayBase
import Synchronization

/// The pause between two sweeps: a second while something moves, and otherwise until something is due or somebody stirs.
final class SweepTimer: Sendable {
    private struct State {
        var isStirred = false
        var sleeper: CheckedContinuation<Void, Never>?
    }

    /// Between two sweeps at the least.
    static let shortest: Duration = .seconds(1)
    /// The disk is looked at as often, whatever is due.
    static let longest: Duration = .seconds(60)

    private let state = Mutex(State())

    /// A sweep begins: what stirs from here on, it may not see.
    func begin() { state.withLock { $0.isStirred = false } }

    /// The store may have changed.
    func stir() {
        state.withLock { state in
            state.isStirred = true
            return state.sleeper.take()
        }?
        .resume()
    }

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
            await cancelling(at: deadline, time) { await self.untilStirred() }
        }
        // One sweep looks at all changes that come close together.
        try await time.sleep(until: began.advanced(by: SweepTimer.shortest))
    }

    private func untilStirred() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isStirred || Task.isCancelled { return true }
                    state.sleeper = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleeper.take() }?.resume()
        }
    }
}
