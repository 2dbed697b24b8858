package import RelayBase
import Synchronization

/// The last hour of every route of the configuration.
package final class RouteHistory: Sendable {
    private let machine = Mutex(HistoryMachine())

    /// Takes up how the routes are; to be told once a minute, when it is `due`.
    package func look(_ snapshot: Snapshot, _ now: Instant) {
        machine.withLock { $0.looked({ snapshot.routes.mapValues { HistoryMachine.Totals($0) } }, now) }
    }

    /// When the running minute ends.
    package var due: Instant? { machine.withLock { $0.due } }

    /// As of now.
    package var present: HistoryMachine { machine.withLock { $0 } }
}
