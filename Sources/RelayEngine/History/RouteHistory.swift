package import RelayBase
package import RelayCore
import Synchronization

/// The last hour of every route of the configuration.
package final class RouteHistory: JobListener {
    /// When the daemon began, in milliseconds since 1970 UTC: nothing is known of before.
    package let startedAt: Int64
    private let machine: Mutex<HistoryMachine>

    init(_ time: any ClockSource) {
        startedAt = time.wallMilliseconds()
        machine = Mutex(HistoryMachine(began: time.now()))
    }

    package func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .routePaused, .routeResumed, .breakerChanged, .notice:
            machine.withLock { $0.heard(event, at: wall) }
        default: break
        }
    }

    /// Takes up how the routes are; to be told once a minute, when it is `due`.
    package func look(_ snapshot: Snapshot, _ now: Instant) {
        machine.withLock { machine in
            machine.looked({ snapshot.routes.mapValues { HistoryMachine.Totals($0, endsMinute: true) } }, now)
        }
    }

    /// When the running minute ends.
    package var due: Instant { machine.withLock { $0.due } }

    /// As of now.
    package var present: HistoryMachine { machine.withLock { $0 } }

    /// Failed attempts of a route by cause, of the running minute and the `minutes` before it: most first, `.other` last.
    package func causes(of entry: Snapshot.Entry, minutes: Int) -> [(code: FailureCode, count: UInt64)] {
        let columns = machine.withLock { $0.columns(of: entry) }
        return HistoryMachine.causes(of: columns.suffix(minutes + 1))
    }
}
