package import RelayCore
import Synchronization

/// The durable side of the engine: accepts jobs, has them delivered, and does what callers and operators ask.
package final class DurableJobs: Sendable {
    package struct Settings: Sendable {
        package var retention = Retention()
        /// Unfinished jobs; one more is refused with `queue_full`.
        package var maxQueued = 100_000
        /// SHA-256.
        package var digest: @Sendable ([UInt8]) -> [UInt8]

        package init(digest: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.digest = digest }
    }

    private struct State {
        var settings: Settings
        var phase = Phase.idle
        var relays: [Relay] = []
        /// Whose turn it is.
        var turn = 0
        var lanes: [String: DispatchLane] = [:]
        var pauses: [String: PauseInForce] = [:]
        /// Ended before the start.
        var early = EndedJobs()
        var sweeper: Task<Void, Never>?
    }

    /// How far the daemon is.
    enum Phase: Sendable {
        /// Nothing is claimed yet. Can transition to: serving, draining.
        case idle
        /// Can transition to: draining, aborted.
        case serving
        /// Nothing is claimed any more. Can transition to: aborted.
        case draining
        /// What is with an upstream is being ended.
        case aborted
    }

    package let store: any JobStore
    package let feed: EventFeed
    let engine: Engine
    let waiters = JobWaiters(limit: 10_000)
    let running = RunningJobs()
    /// Of pauses: each of them is on disk and in memory before the next.
    let turns = RouteTurns()
    /// Calls of the store that claim, until the runs of what they have claimed have begun.
    let claiming = Atomic<Int>(0)
    /// About how many jobs are not over; counted anew every second.
    let room = Mutex(QueueRoom())
    let latest = Mutex(JobCounters())
    let latestFacts = Mutex(StoreFacts())
    /// When a body last found no room.
    let noRoomAt = Mutex<Instant?>(nil)
    private let state: Mutex<State>

    package init(store: any JobStore, engine: Engine, feed: EventFeed, settings: Settings) {
        self.store = store
        self.feed = feed
        self.engine = engine
        state = Mutex(State(settings: settings))
    }

    var settings: Settings { state.withLock { $0.settings } }
    var phase: Phase { state.withLock { $0.phase } }
    var moment: JobMoment { JobMoment(engine.time) }
    var pauses: [String: PauseInForce] { state.withLock { $0.pauses } }
    /// Routes that send nothing now.
    package var pausedRoutes: Set<String> { Set(pauses.keys) }

    func lane(_ route: String) -> DispatchLane? { state.withLock { $0.lanes[route] } }

    /// The next loop; nil before the start.
    func nextRelay() -> Relay? {
        state.withLock { state in
            guard !state.relays.isEmpty else { return nil }
            state.turn = (state.turn + 1) % state.relays.count
            return state.relays[state.turn]
        }
    }
}

// MARK: The life of the daemon

extension DurableJobs {
    /// Begins to deliver, on the loops of `relays` in turn, and to sweep.
    ///
    /// - Throws: what reading the pauses throws.
    package func start(on relays: [Relay]) async throws(StoreError) {
        guard let first = relays.first else { return }
        let pauses = try await store.pauses()
        let counters = try await count()
        let (now, wall) = (engine.time.now(), engine.time.wallMilliseconds())
        let early: EndedJobs? = state.withLock { state in
            guard state.phase == .idle else { return nil }
            state.phase = .serving
            state.relays = relays
            state.pauses = pauses.mapValues { PauseInForce($0, now, wall: wall) }
            defer { state.early = EndedJobs() }
            return state.early
        }
        guard let early else { return }
        engine.pausing.withLock { pausing in
            pausing = { [weak self] route, rule, reason in
                _ = first.ports.start { await self?.paused(route, by: rule, reason) }
            }
        }
        open()
        tell(early)
        let routes = stranded(counters)
        let sweeper = first.ports.start { [self] in
            await releaseStranded(routes)
            await sweep(first.ports.time)
        }
        let isOver = state.withLock { state in
            state.sweeper = sweeper
            return state.phase != .serving
        }
        if isOver { sweeper.cancel() }
    }

    /// Gives every configured route a lane, and takes it from those that are configured no more.
    private func open() {
        let snapshot = engine.snapshot
        let (opened, closed) = state.withLock { state in
            guard state.phase == .serving else { return ([(DispatchLane, Relay)](), [DispatchLane]()) }
            let closed = state.lanes.filter { snapshot.routes[$0.key] == nil }
            for name in closed.keys { state.lanes[name] = nil }
            var opened: [(DispatchLane, Relay)] = []
            for name in snapshot.routeNames {
                snapshot.routes[name]?.state.set(state.pauses[name])
                guard state.lanes[name] == nil else { continue }
                let lane = DispatchLane(route: name)
                let isPaused = state.pauses[name] != nil
                lane.tell { $0.pause(isPaused) }
                state.lanes[name] = lane
                opened.append((lane, state.relays[opened.count % state.relays.count]))
            }
            return (opened, Array(closed.values))
        }
        for lane in closed { lane.end() }
        for (lane, relay) in opened {
            lane.keep(relay.ports.start { [self] in await pump(lane, relay) })
        }
    }

    /// The store says that these routes may have work; called on any thread.
    package func ready(_ routes: Set<String>) {
        let lanes = state.withLock { state in routes.compactMap { state.lanes[$0] } }
        for lane in lanes { lane.tell { $0.ready() } }
    }

    /// Another configuration is in force: routes, limits and retention may be others.
    package func configured(_ settings: Settings) {
        let lanes = state.withLock { state in
            state.settings = settings
            return Array(state.lanes.values)
        }
        open()
        let now = engine.time.now()
        for lane in lanes { lane.tell { $0.reconfigured(now) } }
    }

    /// Claims no more; what is with an upstream goes on, what waits goes back.
    package func drain() { stop(.draining) }

    /// Ends what is with an upstream; it goes back unburned where that is safe.
    package func abort() {
        stop(.aborted)
        running.abort()
    }

    private func stop(_ phase: Phase) {
        let (lanes, sweeper) = state.withLock { state in
            if state.phase != .aborted { state.phase = phase }
            defer {
                state.sweeper = nil
                state.lanes = [:]
            }
            return (Array(state.lanes.values), state.sweeper)
        }
        sweeper?.cancel()
        for lane in lanes { lane.end() }
    }

    /// How many jobs there are, as of the last second.
    package var counters: JobCounters { latest.withLock { $0 } }
    /// How the store is, as of the last second.
    package var storage: StoreFacts { latestFacts.withLock { $0 } }

    /// Jobs that are claimed and not settled, and claims that are on their way.
    package var inFlight: Int { claiming.load(ordering: .sequentiallyConsistent) + running.count }
}

// MARK: Pauses

extension DurableJobs {
    /// The pause in force; when it ends by itself is in the words of the wall clock as it is now.
    package func pause(of route: String) -> RoutePause? {
        guard let pause = inForce(route) else { return nil }
        return pause.shown(engine.time.now(), wall: engine.time.wallMilliseconds())
    }

    func inForce(_ route: String) -> PauseInForce? { state.withLock { $0.pauses[route] } }

    /// Whether the ends of jobs cannot be told yet, and are kept until the start.
    func keepsEarly(_ ended: EndedJobs) -> Bool {
        state.withLock { state in
            guard state.phase == .idle else { return false }
            state.early.add(ended)
            return true
        }
    }

    /// Makes a pause known to everybody who asks for it; nil ends it.
    func set(_ pause: RoutePause?, of route: String) {
        let wall = engine.time.wallMilliseconds()
        let pause = pause.map { PauseInForce($0, engine.time.now(), wall: wall) }
        let lane = state.withLock { state in
            state.pauses[route] = pause
            // Under the lock, so that a reload at the same time sees the pause or is seen by it.
            engine.snapshot.routes[route]?.state.set(pause)
            return state.lanes[route]
        }
        lane?.tell { $0.pause(pause != nil) }
    }
}
