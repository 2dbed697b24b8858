package import RelayBase
package import RelayCore
import RelayJobs
import Synchronization

/// The last hour of every route of the configuration.
package final class RouteHistory: JobListener {
    /// When the daemon began, in milliseconds since 1970 UTC: nothing is known of before.
    package let startedAt: Int64
    private let machine: Mutex<HistoryMachine>
    /// Apart, since loops that serve requests tell of them and must not wait for a look at all routes.
    private let marks = Mutex<[String: RouteMarks]>([:])
    private let reloaded = Mutex<[Int64]>([])

    init(_ time: any ClockSource) {
        startedAt = time.wallMilliseconds()
        machine = Mutex(HistoryMachine(began: time.now()))
    }

    package func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .notice(.configReloaded, _, _):
            reloaded.withLock { $0 = $0.suffix(RouteMarks.limit - 1) + [wall] }
        case .routePaused, .routeResumed, .routeShut, .breakerChanged, .notice:
            guard let route = event.route, let kind = event.kind else { return }
            marks.withLock { $0[route, default: RouteMarks()].heard(event, kind, at: wall) }
        default: break
        }
    }

    /// The latest moments at which another configuration was there, in milliseconds since 1970 UTC.
    package var reloads: [Int64] { reloaded.withLock { $0 } }

    /// The latest marks of a route, in their order.
    package func marks(of route: String) -> [(mark: RouteMarks.Mark, upstream: String?)] {
        marks.withLock { $0[route]?.told } ?? []
    }

    /// Takes up how the routes are; to be told once a minute, when it is `due`.
    package func look(_ snapshot: Snapshot, _ now: Instant) {
        let totals = {
            self.marks.withLock { $0 = $0.filter { snapshot.routes[$0.key] != nil } }
            return snapshot.routes.mapValues { HistoryMachine.Totals($0, endsMinute: true) }
        }
        machine.withLock { $0.looked(totals, now) }
    }

    /// When the running minute ends.
    package var due: Instant { machine.withLock { $0.due } }

    /// As of now.
    package var present: HistoryMachine { machine.withLock { $0 } }
}
