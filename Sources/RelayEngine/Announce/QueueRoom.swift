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
        /// Whether the store has been asked how many there are.
        var isKnown = false
        var told = Told()
    }

    /// What was told of in all.
    struct Told: Equatable {
        var accepted = 0
        var ended = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Room for so many jobs, until they are known to be on disk or not to be.
    package struct Reservation: ~Copyable {
        private let room: QueueRoom
        let count: Int

        fileprivate init(_ room: QueueRoom, _ count: Int) {
            self.room = room
            self.count = count
        }

        deinit { room.state.withLock { $0.reserved -= count } }
    }

    /// Unfinished jobs at most.
    package var limit: Int { state.withLock { $0.limit } }

    package func configure(limit: Int) { state.withLock { $0.limit = limit } }

    /// Jobs that are not over, as far as is known.
    package var queued: Int { state.withLock { $0.queued } }

    var isFull: Bool { state.withLock { $0.queued + $0.reserved >= $0.limit } }

    /// Room for one job; nil when there is none.
    func reserve() -> Reservation? {
        let reservation = reserve(upTo: 1)
        if reservation.count == 0 { return nil }
        return reservation
    }

    /// Room for so many jobs, or for as many of them as there is.
    func reserve(upTo wanted: Int) -> Reservation {
        let count = state.withLock { state in
            let count = max(0, min(wanted, state.limit - state.queued - state.reserved))
            state.reserved += count
            return count
        }
        return Reservation(self, count)
    }

    package func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .accepted:
            state.withLock { state in
                state.queued += 1
                state.told.accepted += 1
            }
        case .ended(let report) where report.isDurable: ended()
        case .dropped(let report) where !report.state.isTerminal: ended()
        default: break
        }
    }

    private func ended() {
        state.withLock { state in
            state.queued = max(0, state.queued - 1)
            state.told.ended += 1
        }
    }

    /// To be asked for before the store is asked how many there are.
    var told: Told { state.withLock { $0.told } }

    /// The store had so many, with or without those that were told of since `told`.
    ///
    /// What is told keeps the number right but for ends that are too many at once to be told each; so a count that may be
    /// too high only ever lowers it. It may be while room is held: a job may be on disk that is told of only now.
    func counted(_ count: Int, since told: Told) {
        state.withLock { state in
            let most = count + state.told.accepted - told.accepted
            let isExact = state.told == told && state.reserved == 0
            state.queued = isExact || !state.isKnown ? most : min(state.queued, most)
            state.isKnown = true
        }
    }
}
