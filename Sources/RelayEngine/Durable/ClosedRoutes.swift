import RelayBase
import RelayCore
import RelayRoute
import Synchronization

/// Tells of routes that close and open as planned.
final class ClosedRoutes: Sendable {
    private let engine: Engine
    private let announcer: Announcer
    private let dispatcher: Dispatcher
    private let closed = Mutex<Set<String>>([])

    init(_ engine: Engine, _ announcer: Announcer, _ dispatcher: Dispatcher) {
        (self.engine, self.announcer, self.dispatcher) = (engine, announcer, dispatcher)
    }

    /// Tells what has changed since it was last looked.
    ///
    /// - Returns: how long it is until something changes next; nil where nothing does.
    func look() -> Duration? {
        let wall = engine.time.wallMilliseconds()
        var (present, next) = (Set<String>(), Int64?.none)
        let before = closed.withLock { $0 }
        for (name, entry) in engine.snapshot.routes {
            guard let times = entry.route.policy.closed else {
                if before.contains(name) { open(name) }
                continue
            }
            if let end = times.end(at: wall / 1_000) {
                present.insert(name)
                if !before.contains(name) { announcer.record(.routeShut(route: name, until: end)) }
            } else if before.contains(name) {
                open(name)
            }
            if let change = times.change(after: wall / 1_000) { next = min(next ?? change, change) }
        }
        closed.withLock { $0 = present }
        return next.map { .milliseconds(max(0, $0 &* 1_000 &- wall)) }
    }

    private func open(_ route: String) {
        // A clock that was set may have ended the window before the moment that was waited for.
        dispatcher.resumed(route)
        announcer.record(.routeShut(route: route, until: nil))
    }
}
