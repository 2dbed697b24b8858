import RelayBase
import RelayCore
import Synchronization

/// How many connections callers may have at once.
package struct ConnectionLimits: Sendable, Equatable {
    /// Over all listeners.
    package var total = 512
    /// Of one user; callers of a port, whom nobody knows, count as one.
    ///
    /// Nil is half of what the others leave.
    package var perUser: Int?
    /// Whether users are told apart; otherwise each may have all.
    package var tellsUsersApart = true
    /// Of each listener with the role admin or metrics, beside `total`: no other takes them.
    package var reserved = 32

    package init() {}

    /// The last places, of which each user has one at most: somebody who has none gets in beside those who take all they
    /// may.
    var last: Int { tellsUsersApart ? min(32, total / 16) : 0 }
}

/// Decides who may have another connection.
///
/// A listener of operators has places of its own and takes from the shared ones what it needs beyond them, so that
/// whatever the callers of the others do, the operator gets in.
package struct ConnectionLimitMachine: Sendable {
    package enum Slot: Hashable, Sendable {
        /// Of those that all share; nil is a caller of a port.
        case shared(user: UInt32?)
        /// Of that listener's own.
        case reserved(listener: String)
    }

    /// By what somebody comes in.
    package enum Door: Hashable, Sendable {
        /// A listener of callers.
        case shared
        /// One of operators, with places of its own.
        case operators(listener: String)
        /// One for metrics, with no places but its own: nobody may keep others out by it.
        case metrics(listener: String)
    }

    package enum Refusal: Error, Hashable, Sendable {
        /// All places are taken.
        case full(limit: Int)
        /// The user has its share, as it was configured or as the others leave it.
        case share(limit: Int)
        case remainder(limit: Int)
        /// The listener's own places are taken.
        case listener(limit: Int)
    }

    private var limits: ConnectionLimits
    private var shared = 0
    private var byUser: [UInt32?: Int] = [:]
    private var byListener: [String: Int] = [:]

    package init(_ limits: ConnectionLimits) { self.limits = limits }

    /// Connections that have a place.
    package var current: Int { byListener.values.reduce(shared, +) }

    /// The limits are others; who is over them keeps what it has.
    package mutating func configured(_ limits: ConnectionLimits) { self.limits = limits }

    /// A connection came in.
    package mutating func arrived(user: UInt32?, by door: Door) throws(Refusal) -> Slot {
        switch door {
        case .shared: break
        case .operators(let listener), .metrics(let listener):
            if byListener[listener, default: 0] < limits.reserved {
                byListener[listener, default: 0] += 1
                return .reserved(listener: listener)
            }
            if case .metrics = door { throw .listener(limit: limits.reserved) }
        }
        guard shared < limits.total else { throw .full(limit: limits.total) }
        if limits.tellsUsersApart { try findShare(of: user) }
        shared += 1
        byUser[user, default: 0] += 1
        return .shared(user: user)
    }

    /// With 512 places one user may have 256, another one beside it 128, and so on to the last 32.
    private func findShare(of user: UInt32?) throws(Refusal) {
        let own = byUser[user, default: 0]
        if let most = limits.perUser, own >= most { throw .share(limit: most) }
        guard own > 0 else { return }
        if limits.perUser == nil, own >= most(of: user) { throw .remainder(limit: own) }
        if limits.total - shared <= limits.last { throw .remainder(limit: own) }
    }

    private func most(of user: UInt32?) -> Int {
        guard limits.tellsUsersApart else { return limits.total }
        let others = shared - byUser[user, default: 0]
        return limits.perUser ?? max(1, (limits.total - others + 1) / 2)
    }

    /// The user's connections, where they are more than all but an eighth of those that it may have; otherwise zero.
    package func crowd(of user: UInt32?) -> Int {
        let (own, most) = (byUser[user, default: 0], most(of: user))
        return own > most - max(1, most / 8) ? own : 0
    }

    /// A connection is over.
    package mutating func left(_ slot: Slot) {
        switch slot {
        case .shared(let user):
            shared -= 1
            let rest = byUser[user, default: 0] - 1
            byUser[user] = rest > 0 ? rest : nil
        case .reserved(let listener): byListener[listener, default: 0] -= 1
        }
    }
}

/// The places of connections over all loops.
package final class ConnectionLimiter: Sendable {
    package typealias Slot = ConnectionLimitMachine.Slot

    private let machine: Mutex<ConnectionLimitMachine>
    private let refusals = Atomic<Int>(0)

    package init(_ limits: ConnectionLimits) { machine = Mutex(ConnectionLimitMachine(limits)) }

    /// Connections that have a place.
    package var current: Int { machine.withLock { $0.current } }
    /// Connections that were turned away for want of a place or of a descriptor, since the start.
    package var refused: Int { refusals.load(ordering: .relaxed) }

    package func configure(_ limits: ConnectionLimits) { machine.withLock { $0.configured(limits) } }

    func enter(
        user: UInt32?,
        by door: ConnectionLimitMachine.Door
    ) throws(ConnectionLimitMachine.Refusal) -> Slot {
        do throws(ConnectionLimitMachine.Refusal) {
            return try machine.withLock { machine throws(ConnectionLimitMachine.Refusal) in
                try machine.arrived(user: user, by: door)
            }
        } catch {
            turnedAway()
            throw error
        }
    }

    func release(_ place: Slot) { machine.withLock { $0.left(place) } }

    /// Notes with the share of a user, of whose connections one has come or gone, whether it has nearly all it may have.
    func note(_ share: CallerShare) {
        share.crowd = machine.withLock { $0.crowd(of: share.user) }
    }

    func turnedAway() { refusals.add(1, ordering: .relaxed) }
}
