package import RelayCore
import Synchronization

/// The last hour of every route of the configuration.
package final class RouteHistory: Sendable {
    private let machine = Mutex(HistoryMachine())

    /// Takes up how the routes are; to be told more often than once a minute.
    package func look(_ snapshot: Snapshot, _ now: Instant) {
        machine.withLock { $0.looked({ snapshot.routes.mapValues { HistoryMachine.Totals($0) } }, now) }
    }

    /// As of now.
    package var present: HistoryMachine { machine.withLock { $0 } }
}
