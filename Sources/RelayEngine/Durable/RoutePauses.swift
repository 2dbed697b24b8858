package import RelayBase
package import RelayCore
package import RelayJobs
import RelayRoute
import Synchronization

/// The pauses of routes: each is on disk and in memory before the next.
///
/// Nothing is paused before the start.
package final class RoutePauses: JobListener {
    private struct State {
        var means: Means?
        /// Why there are none.
        var refusal = StoreError.closed
        var pauses: [String: PauseInForce] = [:]
    }

    /// The parts that a pause works with.
    private struct Means {
        var store: any JobStore
        var announcer: Announcer
        var ports: RelayPorts
        var dispatcher: Dispatcher
    }

    private let engine: Engine
    private let mutex = RouteMutex()
    private let state = Mutex(State())

    init(_ engine: Engine) { self.engine = engine }

    private var means: Means? { state.withLock { $0.means } }
    private var moment: JobMoment { JobMoment(engine.time) }

    /// Takes up the pauses on disk, and those that are to come.
    ///
    /// - Throws: what reading them throws.
    func start(
        _ store: any JobStore,
        _ announcer: Announcer,
        _ ports: RelayPorts,
        _ dispatcher: Dispatcher
    ) async throws(StoreError) {
        let found = try await store.pauses()
        let (now, wall) = (engine.time.now(), engine.time.wallMilliseconds())
        state.withLock { state in
            state.means = Means(store: store, announcer: announcer, ports: ports, dispatcher: dispatcher)
            state.pauses = found.mapValues { PauseInForce($0, now, wall: wall) }
        }
        configured()
    }

    /// There is no store yet in which to keep a pause.
    func standBy(_ refusal: StoreError) { state.withLock { $0.refusal = refusal } }

    /// Nobody is told of anything any more.
    func stop() { state.withLock { $0.means = nil } }

    /// Another configuration is in force: a route that is in it again is still paused.
    func configured() {
        // Under the lock, so that a pause at the same time is seen here or comes after.
        state.withLock { state in
            for (name, entry) in engine.snapshot.routes { entry.state.set(state.pauses[name]) }
        }
    }

    /// A rule of a request that was answered wants its route paused, or an upstream can be sent to again.
    package func heard(_ event: JobEvent, at wall: Int64) {
        guard let means else { return }
        switch event {
        case .pauseWanted(let route, let rule, let reason):
            _ = means.ports.start { [self] in await pause(route, by: rule, reason) }
        // The breaker that kept jobs wait for may close before its time.
        case .breakerChanged(let route, _): means.dispatcher.resumed(route)
        default: break
        }
    }
}

// The pauses in force.
extension RoutePauses {
    /// Routes that send nothing now: the paused ones, or those that are closed where that is the reason.
    package func routes(of reason: WaitReason?) -> Set<String> {
        guard reason == .routeClosed else { return state.withLock { Set($0.pauses.keys) } }
        let now = engine.time.now()
        return Set(
            engine.snapshot.routes.values.filter { $0.closing(engine.time, now) != nil }.map(\.route.name)
        )
    }

    /// The pause in force; when it ends by itself is in the words of the wall clock as it is now.
    package func pause(of route: String) -> RoutePause? {
        inForce(route)?.shown(engine.time.now(), wall: engine.time.wallMilliseconds())
    }

    private func inForce(_ route: String) -> PauseInForce? { state.withLock { $0.pauses[route] } }

    /// Makes a pause known to everybody who asks for it; nil ends it.
    private func set(_ pause: RoutePause?, of route: String) {
        let wall = engine.time.wallMilliseconds()
        let pause = pause.map { PauseInForce($0, engine.time.now(), wall: wall) }
        state.withLock { state in
            state.pauses[route] = pause
            engine.snapshot.routes[route]?.state.set(pause)
        }
    }
}

// Those of other nodes.
extension RoutePauses {
    /// Takes the pauses of the whole fleet in the place of those that are in force.
    func take(_ found: [String: RoutePause]) {
        guard let means else { return }
        let (now, wall) = (engine.time.now(), engine.time.wallMilliseconds())
        let before = state.withLock { state in
            let before = state.pauses
            state.pauses = [:]
            for (route, pause) in found {
                let known = before[route].flatMap { $0.pause == pause ? $0 : nil }
                state.pauses[route] = known ?? PauseInForce(pause, now, wall: wall)
            }
            return before
        }
        configured()
        for (route, pause) in found where before[route]?.pause != pause {
            means.announcer.record(.routePaused(route: route, pause))
        }
        for route in before.keys where found[route] == nil {
            means.dispatcher.resumed(route)
            means.announcer.record(.routeResumed(route: route, by: nil))
        }
    }
}

// Pausing.
extension RoutePauses {
    /// Sends nothing of the route until it is resumed, or for `duration`; requests that wait for their answer get 503
    /// `route_paused`.
    ///
    /// - Throws: `route_not_found`, `storage_failed`, and what `ifSo` throws, which is asked before anything is done.
    package func pause(
        _ route: String,
        reason: String,
        for duration: Duration?,
        by: Principal? = nil,
        ifSo: () throws(Problem) -> Void = {}
    ) async throws(Problem) {
        _ = try engine.snapshot.entry(route)
        let began = engine.time.wallMilliseconds()
        let until = duration.map { StoreClock.advance(began, by: $0) }
        try await exclusively(route, ifSo) { (means) throws(StoreError) in
            try await begin(RoutePause(reason: reason, began: began, until: until, by: by), of: route, means)
        }
    }

    /// A rule has paused the route.
    func pause(_ route: String, by rule: String?, _ reason: String) async {
        guard let means, inForce(route) == nil else { return }
        let began = engine.time.wallMilliseconds()
        let new = RoutePause(reason: reason, began: began, rule: rule ?? "recovery")
        do throws(StoreError) {
            try await mutex.withLock(route) { () async throws(StoreError) in
                guard inForce(route) == nil else { return }
                try await begin(new, of: route, means)
            }
        } catch {
            // Unless the store is done for, which ends the process, the pause holds until the next start.
            set(new, of: route)
            means.announcer.record(.routePaused(route: route, new))
        }
    }

    private func begin(_ pause: RoutePause, of route: String, _ means: Means) async throws(StoreError) {
        try await means.store.pause(route, pause, at: moment)
        set(pause, of: route)
        means.announcer.record(.routePaused(route: route, pause))
    }

    private func exclusively(
        _ route: String,
        _ ifSo: () throws(Problem) -> Void,
        _ body: (Means) async throws(StoreError) -> Void
    ) async throws(Problem) {
        var problem: Problem?
        do throws(StoreError) {
            let (means, refusal) = state.withLock { ($0.means, $0.refusal) }
            guard let means else { throw refusal }
            try await mutex.withLock(route) { () async throws(StoreError) in
                do throws(Problem) { try ifSo() } catch { problem = error }
                if problem == nil { try await body(means) }
            }
        } catch { throw Problem(error, route: route) }
        if let problem { throw problem }
    }
}

// Going on.
extension RoutePauses {
    /// Jobs of one call of the store.
    private static let page = 500

    /// Lets a route go on, with the jobs that its pause put aside.
    ///
    /// - Throws: as a pause does.
    package func resume(
        _ route: String,
        by: Principal? = nil,
        ifSo: () throws(Problem) -> Void = {}
    ) async throws(Problem) {
        _ = try engine.snapshot.entry(route)
        try await exclusively(route, ifSo) { (means) throws(StoreError) in try await end(route, means, by: by)
        }
    }

    /// Ends a pause.
    ///
    /// The pause goes last: a crash before leaves the route paused, and its jobs can still be let go.
    private func end(_ route: String, _ means: Means, by: Principal? = nil) async throws(StoreError) {
        var filter = JobFilter()
        filter.route = route
        guard inForce(route) != nil else { return try await release(filter, means) }
        try await release(filter, means)
        try await means.store.pause(route, nil, at: moment)
        set(nil, of: route)
        // Those that were put aside in between.
        try await release(filter, means)
        means.dispatcher.resumed(route)
        means.announcer.record(.routeResumed(route: route, by: by))
    }

    /// Lets every job go on that matches and that a pause put aside.
    private func release(_ filter: JobFilter, _ means: Means) async throws(StoreError) {
        var filter = filter
        filter.states = [.held]
        filter.reason = .routePaused
        var order = ActionOrder(.release, filter, limit: RoutePauses.page, by: .pause)
        repeat {
            let report = try await means.store.apply(order, at: moment)
            for job in report.changes { means.announcer.record(.changed(JobReport(job))) }
            order.cursor = report.next
        } while order.cursor != nil
    }

    /// A job was put aside for a pause that has ended in the meantime: it goes on.
    func releaseIfResumed(_ id: JobID, of route: String) async {
        guard let means, inForce(route) == nil else { return }
        // A fault that keeps the store from it ends the process, or the next start makes up for it.
        try? await release(JobFilter(ids: [id]), means)
    }

    /// Lets the jobs go on that stand aside for a pause there is no more: a crash may have ended it.
    func releaseStranded(_ counters: JobCounters) async {
        guard let means else { return }
        for group in counters.counts.keys where group.state == .held && inForce(group.route) == nil {
            var filter = JobFilter()
            filter.route = group.route
            try? await release(filter, means)
        }
    }

    /// When a pause is over next.
    var nextEnd: Instant? { state.withLock { $0.pauses.values.compactMap(\.end).min() } }

    /// Ends the pauses whose time is up.
    func endThoseOver() async {
        guard let means else { return }
        let now = engine.time.now()
        for (route, pause) in state.withLock({ $0.pauses }) where pause.isOver(now) {
            // An end that the store could not write now is tried again at the next sweep.
            try? await mutex.withLock(route) { () async throws(StoreError) in
                // An operator may have given it another one.
                if inForce(route)?.pause == pause.pause { try await end(route, means) }
            }
        }
    }
}
