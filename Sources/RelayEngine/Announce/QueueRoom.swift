package import RelayCore
import Synchronization

/// How many more jobs may wait for their delivery; whoever hands one over holds its room before it is on disk.
package final class QueueRoom: JobListener {
    private struct State {
        var limit = 100_000
        /// Jobs that are not over, as far as is known.
        var queued = 0
        /// Room that is held for jobs on their way to disk.
        var reserved = 0
        /// Accepted since the last count began, which may lack them.
        var sinceCount = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Room for one job, until that is known to be on disk or not to be.
    package struct Reservation: ~Copyable {
        private let room: QueueRoom

        fileprivate init(_ room: QueueRoom) { self.room = room }

        deinit { room.state.withLock { $0.reserved -= 1 } }
    }

    /// Unfinished jobs at most.
    package var limit: Int { state.withLock { $0.limit } }

    package func configure(limit: Int) { state.withLock { $0.limit = limit } }

    /// Jobs that are not over, as far as is known.
    package var queued: Int { state.withLock { $0.queued } }

    var isFull: Bool { state.withLock { $0.queued + $0.reserved >= $0.limit } }

    /// Room for one job; nil when there is none.
    func reserve() -> Reservation? {
        let isReserved = state.withLock { state in
            guard state.queued + state.reserved < state.limit else { return false }
            state.reserved += 1
            return true
        }
        return isReserved ? Reservation(self) : nil
    }

    package func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .accepted:
            state.withLock { state in
                state.queued += 1
                state.sinceCount += 1
            }
        case .ended(let report) where report.isDurable: ended()
        case .dropped(let report) where !report.state.isTerminal: ended()
        default: break
        }
    }

    private func ended() { state.withLock { $0.queued = max(0, $0.queued - 1) } }

    /// The store is about to be asked how many there are.
    func counting() { state.withLock { $0.sinceCount = 0 } }

    /// The store had so many, perhaps without those of the moment.
    func counted(_ count: Int) { state.withLock { $0.queued = count + $0.sinceCount } }
}
