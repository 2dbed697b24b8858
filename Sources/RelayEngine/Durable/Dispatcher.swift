import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// Has kept jobs delivered: claims what is due, route by route, and runs it on the loops in turn.
final class Dispatcher: Sendable {
    private struct State {
        var phase = Phase.idle
        var loops: [DeliveryLoop] = []
        /// The index of the loop whose turn it is.
        var loopIndex = 0
        var routeDispatchers: [String: RouteDispatcher] = [:]
    }

    /// How far the daemon is.
    enum Phase: Sendable {
        /// Nothing is claimed yet. Can transition to: serving, draining.
        case idle
        /// Can transition to: draining, aborted.
        case serving
        /// Nothing is claimed any more. Can transition to: aborted.
        case draining
        /// Attempts that are with an upstream are being ended.
        case aborted
    }

    let store: any JobStore
    let engine: Engine
    let pauses: RoutePauses
    let network: NetworkHolds
    let announcer: Announcer
    private let running = RunningJobs()
    private let stops = OperationStops()
    /// Calls of the store that claim, until the runs of what they have claimed have begun.
    private let claiming = Atomic<Int>(0)
    private let state = Mutex(State())

    init(_ store: any JobStore, _ audience: Listeners, _ announcer: Announcer) {
        self.store = store
        engine = audience.engine
        pauses = audience.pauses
        network = audience.network
        self.announcer = announcer
    }

    var phase: Phase { state.withLock { $0.phase } }

    /// Jobs that are claimed and not settled, and claims that are on their way.
    var inFlight: Int { claiming.load(ordering: .sequentiallyConsistent) + running.count }

    /// Whether the credential of the route lets jobs through; nil of a route that has no dispatcher.
    func gate(of route: String) -> DispatchMachine.Gate? { routeDispatcher(route)?.ask { $0.gate } }

    /// Whether memory is so short that kept jobs take no more of it than they need to go on.
    var isShort: Bool { engine.shedding.isLasting }

    /// How many kept jobs of a route with that limit may be under way where as many are, since memory is short.
    func shortLimit(of route: String, _ limit: Int) -> Int? {
        let most = DispatchMachine.shortLimit(limit)
        guard isShort, let unsettled = routeDispatcher(route)?.ask({ $0.unsettled }), unsettled >= most else {
            return nil
        }
        return most
    }

    private func routeDispatcher(_ route: String) -> RouteDispatcher? {
        state.withLock { $0.routeDispatchers[route] }
    }
}

// The life of the daemon.
extension Dispatcher {
    /// Begins to claim, for `loops` in turn; does nothing once it has begun or ended.
    func start(on loops: [DeliveryLoop]) {
        let isStarted = state.withLock { state in
            guard state.phase == .idle, !loops.isEmpty else { return false }
            state.phase = .serving
            state.loops = loops
            return true
        }
        if isStarted { open() }
    }

    /// Gives every configured route a dispatcher, and takes it from those that are configured no more.
    private func open() {
        let snapshot = engine.snapshot
        let (opened, closed) = state.withLock { state in
            guard state.phase == .serving else { return ([(RouteDispatcher, Relay)](), [RouteDispatcher]()) }
            let closed = state.routeDispatchers.filter { snapshot.routes[$0.key] == nil }
            for name in closed.keys { state.routeDispatchers[name] = nil }
            var opened: [(RouteDispatcher, Relay)] = []
            for name in snapshot.routeNames where state.routeDispatchers[name] == nil {
                let routeDispatcher = RouteDispatcher(route: name, engine.time)
                state.routeDispatchers[name] = routeDispatcher
                opened.append((routeDispatcher, state.loops[opened.count % state.loops.count].relay))
            }
            return (opened, Array(closed.values))
        }
        for routeDispatcher in closed { routeDispatcher.end() }
        for (routeDispatcher, relay) in opened {
            routeDispatcher.keep(relay.ports.start { [self] in await pump(routeDispatcher, relay) })
        }
    }

    /// The store says that these routes have work; called on any thread.
    func ready(_ work: [String: FreshWork]) {
        let routeDispatchers = state.withLock { state in
            work.compactMap { name, work in state.routeDispatchers[name].map { ($0, work) } }
        }
        for (routeDispatcher, work) in routeDispatchers { routeDispatcher.tell { $0.ready(work) } }
    }

    /// A pause, or what else held the route back, is over; called on any thread.
    func resumed(_ route: String) {
        let now = engine.time.now()
        routeDispatcher(route)?.tell { $0.resumed(now) }
    }

    /// Another configuration is in force.
    func configured() {
        let routeDispatchers = state.withLock { Array($0.routeDispatchers.values) }
        open()
        let now = engine.time.now()
        for routeDispatcher in routeDispatchers { routeDispatcher.tell { $0.reconfigured(now) } }
    }

    /// Claims no more; what is with an upstream goes on, what waits goes back.
    func drain() { stop(.draining) }

    /// Ends what is with an upstream; it goes back unburned where that is safe.
    func abort() {
        stop(.aborted)
        running.abort()
    }

    private func stop(_ phase: Phase) {
        let routeDispatchers = state.withLock { state in
            if state.phase != .aborted { state.phase = phase }
            defer { state.routeDispatchers = [:] }
            return Array(state.routeDispatchers.values)
        }
        for routeDispatcher in routeDispatchers { routeDispatcher.end() }
    }
}

// Claiming: when, and how many.
extension Dispatcher {
    /// Does what the dispatcher's machine says until it says that nothing will be claimed any more.
    private func pump(_ routeDispatcher: RouteDispatcher, _ relay: Relay) async {
        let time = relay.ports.time
        while true {
            switch routeDispatcher.step(
                time.now(),
                engine.snapshot.routes[routeDispatcher.route],
                isShort: isShort
            ) {
            case .end: return
            case .sleep(let deadline): await routeDispatcher.sleep(until: deadline, time)
            case .claim(let count): await claim(count, routeDispatcher, relay)
            }
        }
    }

    /// Waits for a permit in fair turn with other requests, takes what else is free, and claims as many jobs.
    private func claim(_ count: Int, _ routeDispatcher: RouteDispatcher, _ relay: Relay) async {
        let time = relay.ports.time
        guard let entry = engine.snapshot.routes[routeDispatcher.route] else { return routeDispatcher.end() }
        guard var permits = await entry.state.acquireForClaim(time.now()) else { return }
        // While it waited, the dispatcher may have been paused or ended.
        guard let entry = engine.snapshot.routes[routeDispatcher.route],
            case .claim(let count) = routeDispatcher.step(time.now(), entry, isShort: isShort)
        else { return }
        claiming.add(1, ordering: .sequentiallyConsistent)
        defer { claiming.subtract(1, ordering: .sequentiallyConsistent) }
        // The caller that ends the serving counts afterwards: it sees this claim, or this claim sees the end.
        guard phase == .serving else { return }
        permits.add(atMost: count - 1)
        let asked = permits.count
        routeDispatcher.ask { $0.claiming(asked) }
        do throws(StoreError) {
            let batch = try await store.claim(
                routeDispatcher.route,
                limit: asked,
                upstream: relay.ports.firstUpstream(of: entry.route).name,
                at: JobMoment(engine.time)
            )
            let next = batch.nextDue.map { engine.time.instant(ofWall: $0) }
            let isProbe = routeDispatcher.ask {
                $0.claimed(batch.claims.count, of: asked, nextDue: next, time.now())
            }
            for claim in batch.claims { begin(claim, routeDispatcher, permits.take(), isProbe: isProbe) }
        } catch {
            // A failure that the store cannot survive ends the process; any other may have passed in a moment.
            if error.code == .closed {
                routeDispatcher.end()
            } else {
                let random = error.isAway ? relay.ports.entropy.next() : nil
                routeDispatcher.ask { $0.claimFailed(time.now(), random: random) }
            }
        }
    }

    private func begin(
        _ claim: Claim,
        _ routeDispatcher: RouteDispatcher,
        _ permit: consuming RouteState.Permit?,
        isProbe: Bool
    ) {
        guard let loop = nextLoop() else { preconditionFailure("a job was claimed before the start") }
        begin(claim, routeDispatcher, loop, permit, isProbe: isProbe)
    }

    private func begin(
        _ claim: Claim,
        _ routeDispatcher: RouteDispatcher,
        _ loop: DeliveryLoop,
        _ permit: consuming RouteState.Permit?,
        isProbe: Bool
    ) {
        let run = JobRun(claim, self, routeDispatcher, loop, permit, isProbe: isProbe)
        running.add(run)
        run.start()
    }

    /// The next loop; nil before the start.
    private func nextLoop() -> DeliveryLoop? {
        state.withLock { state in
            guard !state.loops.isEmpty else { return nil }
            state.loopIndex = (state.loopIndex + 1) % state.loops.count
            return state.loops[state.loopIndex]
        }
    }
}

// Claiming jobs as they are accepted.
extension Dispatcher {
    /// The means to claim a job with its acceptance; given back at its end, unless the job was claimed.
    struct Offer: ~Copyable {
        private let dispatcher: Dispatcher
        private let routeDispatcher: RouteDispatcher
        private let loop: DeliveryLoop
        private var permits: RouteState.ClaimPermits
        private var isTaken = false
        /// Where the first attempt goes.
        let upstream: String

        fileprivate init(
            _ dispatcher: Dispatcher,
            _ routeDispatcher: RouteDispatcher,
            _ loop: DeliveryLoop,
            _ permits: consuming RouteState.ClaimPermits,
            upstream: String
        ) {
            self.dispatcher = dispatcher
            self.routeDispatcher = routeDispatcher
            self.loop = loop
            self.permits = permits
            self.upstream = upstream
        }

        /// The store has answered: runs the job, if it has claimed it.
        mutating func begin(_ offered: OfferedJob, _ answer: EnqueueResult, at moment: JobMoment) {
            guard case .running(let token) = answer else { return }
            let claim = Claim(token, of: offered.job, to: upstream, at: moment)
            isTaken = true
            dispatcher.begin(claim, routeDispatcher, loop, permits.take(), isProbe: false)
        }

        deinit {
            if !isTaken, routeDispatcher.ask({ $0.withdrawn() }) { routeDispatcher.wake() }
            dispatcher.claiming.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    /// A permit of the route for a job on its way to disk; nil when the job has to wait for its turn.
    func offer(_ route: String) -> Offer? {
        guard let entry = engine.snapshot.routes[route], let permits = entry.state.tryAcquireForAccept()
        else {
            return nil
        }
        claiming.add(1, ordering: .sequentiallyConsistent)
        // The caller that ends the serving takes the dispatchers and counts then: it sees this, or none is here.
        guard let routeDispatcher = routeDispatcher(route), let loop = nextLoop(),
            routeDispatcher.offers(loop.relay.ports.time.now(), entry, isShort: isShort)
        else {
            claiming.subtract(1, ordering: .sequentiallyConsistent)
            return nil
        }
        let upstream = loop.relay.ports.firstUpstream(of: entry.route).name
        return Offer(self, routeDispatcher, loop, permits, upstream: upstream)
    }
}

// The runs that are under way.
extension Dispatcher {
    /// A relay of the loops in turn; nil before the start.
    var relay: Relay? { nextLoop()?.relay }

    /// These were cancelled for good: the upstreams of their operations are told, where their routes say so.
    func stopOperations(of jobs: some Sequence<(JobID, route: String)>) {
        let routes = engine.snapshot.routes
        let told = jobs.filter { routes[$0.route]?.route.follow?.settings.cancel != nil }
        for (route, jobs) in Dictionary(grouping: told, by: \.route) {
            stops.add(jobs.map(\.0), on: route, self)
        }
    }

    /// A run is settled.
    func left(_ run: JobRun) { running.remove(run) }

    /// These are to end, or are no longer this process's, which their settlement finds out.
    func asked(_ ids: [JobID]) {
        guard let ports = nextLoop()?.relay.ports else { return }
        _ = ports.start { [self] in for id in ids { await cancel(id) } }
    }

    /// Cancels a job that runs as far as the store knows; it stays expected only while its claim may be on its way.
    func cancel(_ id: JobID) async {
        guard running.cancel(id) else { return }
        do throws(StoreError) {
            let job = try await store.job(id)
            // In a fleet another node may run it: then no claim of it is on its way here.
            if job?.isCancelAsked != true || claiming.load(ordering: .sequentiallyConsistent) == 0 {
                running.expectNoMore(id)
            }
        } catch {
            // The store itself cancels the job at its settlement, whatever its run comes to.
            running.expectNoMore(id)
        }
    }
}

extension ClockSource {
    /// The moment at which the wall clock shows that, in milliseconds since 1970 UTC, unless it is set.
    func instant(ofWall milliseconds: Int64) -> Instant {
        now().advanced(by: .milliseconds(milliseconds.subtractingSaturating(wallMilliseconds())))
    }
}
