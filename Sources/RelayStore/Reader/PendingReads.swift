import RelayBase
import Synchronization

/// Reads that somebody waits for: what a disk keeps too long is given up, and whoever asked is told.
final class PendingReads: Sendable {
    private struct Read {
        var askedAt: Int64
        var fail: @Sendable (StoreError) -> Void
    }

    private struct State {
        var next: UInt64 = 0
        var reads: [UInt64: Read] = [:]
    }

    private let state = Mutex(State())

    /// Somebody asks at that moment of the monotonic clock; `fail` is called if it is given up.
    func began(at now: Int64, fail: @escaping @Sendable (StoreError) -> Void) -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.reads[state.next] = Read(askedAt: now, fail: fail)
            return state.next
        }
    }

    func isAwaited(_ number: UInt64) -> Bool { state.withLock { $0.reads[number] != nil } }

    /// It is done.
    ///
    /// - Returns: whether somebody still waits for it.
    func ended(_ number: UInt64) -> Bool { state.withLock { $0.reads.removeValue(forKey: number) != nil } }

    /// Gives up what was asked then or before.
    func giveUp(askedBy moment: Int64) {
        let late = state.withLock { state in
            let late = state.reads.filter { $0.value.askedAt <= moment }
            for number in late.keys { state.reads[number] = nil }
            return late.values
        }
        for read in late { read.fail(.stalled) }
    }
}
