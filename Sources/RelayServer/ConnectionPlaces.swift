import Synchronization

/// How many connections callers may have at once.
package struct ConnectionLimits: Sendable, Equatable {
    /// Over all listeners.
    package var total = 512
    /// Of one user; callers of a port, whom nobody knows, count as one.
    package var perUser = 256
    /// Of each listener with the role admin or metrics, beside `total`: no other takes them.
    package var reserved = 32

    package init() {}
}

/// Decides who may have another connection.
///
/// A listener of operators has places of its own and takes from the shared ones what it needs beyond them, so that
/// whatever the callers of the others do, the operator gets in.
package struct ConnectionPlacesMachine: Sendable {
    package enum Place: Hashable, Sendable {
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
        /// The user has its share.
        case share(limit: Int)
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
    package mutating func arrived(user: UInt32?, by door: Door) throws(Refusal) -> Place {
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
        guard byUser[user, default: 0] < limits.perUser else { throw .share(limit: limits.perUser) }
        shared += 1
        byUser[user, default: 0] += 1
        return .shared(user: user)
    }

    /// A connection is over.
    package mutating func left(_ place: Place) {
        switch place {
        case .shared(let user):
            shared -= 1
            let rest = byUser[user, default: 0] - 1
            byUser[user] = rest > 0 ? rest : nil
        case .reserved(let listener): byListener[listener, default: 0] -= 1
        }
    }
}

/// The places of connections over all loops.
package final class ConnectionPlaces: Sendable {
    package typealias Place = ConnectionPlacesMachine.Place

    private let machine: Mutex<ConnectionPlacesMachine>
    private let refusals = Atomic<Int>(0)

    package init(_ limits: ConnectionLimits) { machine = Mutex(ConnectionPlacesMachine(limits)) }

    /// Connections that have a place.
    package var current: Int { machine.withLock { $0.current } }
    /// Connections that were turned away for want of a place or of a descriptor, since the start.
    package var refused: Int { refusals.load(ordering: .relaxed) }

    package func configure(_ limits: ConnectionLimits) { machine.withLock { $0.configured(limits) } }

    func enter(
        user: UInt32?,
        by door: ConnectionPlacesMachine.Door
    ) throws(ConnectionPlacesMachine.Refusal) -> Place {
        do throws(ConnectionPlacesMachine.Refusal) {
            return try machine.withLock { machine throws(ConnectionPlacesMachine.Refusal) in
                try machine.arrived(user: user, by: door)
            }
        } catch {
            turnedAway()
            throw error
        }
    }

    func leave(_ place: Place) { machine.withLock { $0.left(place) } }

    func turnedAway() { refusals.add(1, ordering: .relaxed) }
}
