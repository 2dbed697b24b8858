import RelayBase
package import RelayCore
import RelayJobs
import Synchronization

/// How many more jobs may wait for their delivery; whoever hands one over holds its room before it is on disk.
package final class QueueCapacity: JobListener {
    private struct State {
        var limit = 100_000
        /// The number that this daemon may let it come to until the next count: less where others may fill it too.
        var ceiling = 100_000
        /// Jobs that are not over, as far as is known.
        var queued = 0
        /// Notices that are not over: they take nobody's room, and have as much of their own.
        var notices = 0
        /// Room that is held for jobs on their way to disk.
        var reserved = 0
        /// Whether the store has been asked how many there are.
        var isKnown = false
        var told = Told()
        var users = UserQuotaMachine()
        /// The daemon of a fleet whose users are counted here.
        var node = NodeName.none
    }

    /// The numbers of jobs that were told of in all.
    struct Told: Equatable {
        var accepted = 0
        var ended = 0
        /// Notices that were made.
        var notices = 0
    }

    private let state = Mutex(State())
    /// Jobs that one of several daemons may add at least as long as there is room.
    private static let batch = 256

    package init() {}

    /// Room for so many jobs, until they are known to be on disk or not to be.
    package struct Reservation: ~Copyable {
        private let capacity: QueueCapacity
        let count: Int
        private let user: UInt32?

        fileprivate init(_ capacity: QueueCapacity, _ count: Int, _ user: UInt32?) {
            self.capacity = capacity
            self.count = count
            self.user = user
        }

        deinit {
            capacity.state.withLock { state in
                state.reserved -= count
                state.users.reserve(-count, of: user)
            }
        }
    }

    /// Unfinished jobs at most.
    package var limit: Int { state.withLock { $0.limit } }

    /// `userLimit` is that of one user, nil for none.
    package func configure(limit: Int, userLimit: Int? = nil) {
        state.withLock { state in
            (state.limit, state.ceiling) = (limit, limit)
            state.users.configured(limit: userLimit)
        }
    }

    /// Counts users of that node's machine alone.
    func configure(users node: NodeName) { state.withLock { $0.node = node } }

    /// Unfinished jobs of one user at most; nil bounds nothing.
    var userLimit: Int? { state.withLock { $0.users.limit } }

    /// Jobs that are not over, as far as is known.
    package var queued: Int { state.withLock { max(0, $0.queued) } }

    /// Whether another notice may be made.
    var takesNotice: Bool { state.withLock { $0.notices < $0.limit } }

    var isFull: Bool { state.withLock { $0.queued + $0.reserved >= $0.ceiling } }

    /// Whether that user may hand over no more, whatever room there is.
    func isFull(for user: UInt32?) -> Bool {
        state.withLock { state in
            let isFull = state.users.remaining(of: user) == 0
            if isFull { state.users.refused() }
            return isFull
        }
    }

    /// Room for one job of that user, who may have no more than others unless `isBounded` is false; nil when there is none.
    func reserve(of user: UInt32? = nil, isBounded: Bool = false) -> Reservation? {
        let reservation = reserve(upTo: 1, of: user, isBounded: isBounded)
        if reservation.count == 0 { return nil }
        return reservation
    }

    /// Room for so many jobs, or for as many of them as there is.
    func reserve(upTo wanted: Int, of user: UInt32? = nil, isBounded: Bool = false) -> Reservation {
        let count = state.withLock { state in
            let own = isBounded ? state.users.remaining(of: user) : .max
            if own < wanted { state.users.refused() }
            let count = max(0, min(wanted, own, state.ceiling - state.queued - state.reserved))
            state.reserved += count
            state.users.reserve(count, of: user)
            return count
        }
        return Reservation(self, count, user)
    }

    package func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .accepted(let report): began(report.user)
        case .changed(let report) where report.isRevived: began(report.user, on: report.node)
        case .ended(let report) where report.isDurable: ended(report.user, on: report.node)
        case .dropped(let report) where !report.state.isTerminal: ended(report.user, on: report.node)
        default: break
        }
    }

    private func began(_ user: UInt32?, on node: NodeName = .none) {
        state.withLock { state in
            guard user != JobRecord.Submitter.ofNotices.user else {
                state.notices += 1
                state.told.notices += 1
                return
            }
            if node.shares(users: state.node) { state.users.accepted(user) }
            state.queued += 1
            state.told.accepted += 1
        }
    }

    private func ended(_ user: UInt32?, on node: NodeName) {
        state.withLock { state in
            guard user != JobRecord.Submitter.ofNotices.user else {
                state.notices -= 1
                return
            }
            if node.shares(users: state.node) { state.users.ended(user) }
            // Below zero where an end is told before the beginning.
            state.queued -= 1
            state.told.ended += 1
        }
    }

    /// To be asked for before the store is asked how many there are.
    var told: Told { state.withLock { $0.told } }

    /// The store had so many, with or without those that were told of since `told`.
    ///
    /// The events keep the number right but for ends that are too many at once to be told each; so a count that may be
    /// too high only ever lowers it. It may be while room is held: a job may be on disk that is told of only now.
    ///
    /// `notices` is the number of unfinished notices, which are not in the other one.
    ///
    /// `nodes` daemons share the queue: each lets it grow by its part of the room, or by a batch, until the next count.
    func counted(_ count: Int, notices: Int = 0, since told: Told, sharedBy nodes: Int = 0) {
        state.withLock { state in
            state.notices = notices + state.told.notices - told.notices
            let most = count + state.told.accepted - told.accepted
            guard nodes == 0 else {
                let room = max(0, state.limit - most)
                state.ceiling = most + max(min(room, Self.batch), room / nodes)
                (state.queued, state.isKnown) = (most, true)
                return
            }
            let isExact = state.told == told && state.reserved == 0
            state.queued = isExact || !state.isKnown ? most : min(state.queued, most)
            state.isKnown = true
        }
    }

    /// Whether the jobs of each user are to be counted now.
    func beginsUserCount(_ now: Instant, isShared: Bool = false) -> Bool {
        state.withLock { $0.users.beginsCount(now, isShared: isShared) }
    }

    /// The store's answer to that; nil when it gives none.
    func counted(_ users: [UInt32?: Int]?, isShared: Bool = false) {
        state.withLock { state in
            if let users {
                state.users.counted(users, isShared: isShared)
            } else {
                state.users.notCounted()
            }
        }
    }
}
