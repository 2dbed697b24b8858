package import RelayBase
import RelayCore
package import RelayJobs

/// The durable side of the engine: takes jobs in, has them delivered, and does what callers and operators ask.
///
/// Each part owns its state; here they are only put together, started and stopped.
package final class DurableJobs: Sendable {
    package struct Settings: Sendable {
        package var retention = Retention()
        /// Unfinished jobs; one more is refused with `queue_full`.
        package var maxQueued = 100_000
        /// Those of one user; nil bounds nothing.
        package var maxQueuedPerUser: Int?

        package init() {}
    }

    package let store: any JobStore
    package let feed: EventFeed
    package let pauses: RoutePauses
    let network: NetworkHolds
    package let acceptance: Acceptance
    package let operations: Operations
    package let runs: ActionRuns
    package let watch: StoreWatch
    package let ending: EndingWatch
    package let notices: Notices?
    let engine: Engine
    let dispatcher: Dispatcher
    private let announcer: Announcer
    private let sweeper: Sweeper
    private let capacity: QueueCapacity
    let waiters: JobWaiters

    /// `announcer` tells the audience; `digest` is SHA-256; `notices` are those that the store makes.
    package init(
        store: any JobStore,
        _ audience: Listeners,
        _ announcer: Announcer,
        _ notices: Notices? = nil,
        settings: Settings,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.store = store
        self.announcer = announcer
        self.notices = notices
        engine = audience.engine
        feed = audience.feed
        capacity = audience.capacity
        pauses = audience.pauses
        network = audience.network
        waiters = audience.waiters
        watch = StoreWatch(store, audience.capacity, audience.engine.time)
        ending = EndingWatch(store, watch)
        dispatcher = Dispatcher(store, audience, announcer)
        acceptance = Acceptance(dispatcher, audience, watch, digest: digest)
        operations = Operations(store, dispatcher, announcer)
        runs = ActionRuns(audience.engine, audience.pauses)
        let closed = ClosedRoutes(audience.engine, announcer, dispatcher)
        sweeper = Sweeper(store, audience, announcer, watch, closed, notices)
        configure(settings)
    }

    // The pauses know the announcer, which knows them; so do the holds of the network, and the runs.
    deinit {
        pauses.stop()
        network.stop()
        runs.stop()
    }

    /// The store is not open yet: whoever asks for what it holds is refused with that.
    package func standBy(_ refusal: StoreError) async {
        pauses.standBy(refusal)
        runs.standBy(refusal)
        await watch.look()
    }

    /// Begins to deliver, on `loops` in turn, and to sweep.
    ///
    /// - Throws: what reading the pauses and the runs throws.
    package func start(on loops: [DeliveryLoop]) async throws(StoreError) {
        guard let first = loops.first?.relay else { return }
        try await patiently(first.ports) { () async throws(StoreError) in try await watch.count() }
        try await patiently(first.ports) { () async throws(StoreError) in
            if watch.beginsUserCount() { try await watch.countUsers() }
        }
        try await patiently(first.ports) { () async throws(StoreError) in
            try await pauses.start(store, announcer, first.ports, dispatcher)
        }
        network.start(store, announcer, first.ports)
        var found: [ActionRun] = []
        try await patiently(first.ports) { () async throws(StoreError) in found = try await store.runs() }
        dispatcher.start(on: loops)
        sweeper.start(on: first.ports)
        runs.start(found, store, operations, announcer, first.ports)
    }

    /// A machine that is busy with other things makes a read late that nobody but the start waits for; a server that is
    /// away is waited for, until the relay stops.
    private func patiently(
        _ ports: RelayPorts,
        _ read: () async throws(StoreError) -> Void
    ) async throws(StoreError) {
        var slowReads = 0
        var wait = DispatchMachine.firstRetry
        while true {
            do throws(StoreError) {
                return try await read()
            } catch  where error.code == .slow {
                slowReads += 1
                if slowReads == DurableJobs.readsAtStart { throw error }
            } catch  where error.isAway && dispatcher.phase == .idle {
                await standBy(error)
                let (time, pause) = (ports.time, wait.spread(ports.entropy.next()))
                // On the relay's own loop: the one that starts it may be another, on which its clock cannot wait.
                await ports.start { try? await time.sleep(until: time.now().advanced(by: pause)) }.value
                if Task.isCancelled { throw .closed }
                wait = min(wait * 2, DispatchMachine.longestRetry)
            }
        }
    }

    /// The store makes each five times, and gives each of these up after half a second.
    private static let readsAtStart = 40

    /// The store says that these routes may have work; called on any thread.
    package func ready(_ work: [String: FreshWork]) { dispatcher.ready(work) }

    /// Somebody at another node has asked these jobs to end, or another node has taken them over; called on any thread.
    package func asked(_ jobs: [JobID]) { dispatcher.asked(jobs) }

    /// The pauses in force, where another node has changed them; called on any thread.
    package func paused(_ found: [String: RoutePause]) { pauses.take(found) }

    /// The reason that held the jobs of that route back may be over.
    package func resumed(_ route: String) { dispatcher.resumed(route) }

    /// Another configuration is in force: routes, limits and retention may be others.
    package func configured(_ settings: Settings) {
        configure(settings)
        pauses.configured()
        dispatcher.configured()
        network.configured()
    }

    /// The network is constrained now, or not any more; called on any thread.
    package func networkChanged() { network.changed() }

    private func configure(_ settings: Settings) {
        capacity.configure(limit: settings.maxQueued, userLimit: settings.maxQueuedPerUser)
        sweeper.configure(settings.retention)
        sweeper.stir()
    }

    /// The store may have changed, or the wall clock has stepped: it is swept and counted within a second.
    package func stir() { sweeper.stir() }

    /// Claims no more; what is with an upstream goes on, what waits goes back.
    package func drain() {
        sweeper.stop()
        network.drain()
        runs.stop()
        dispatcher.drain()
    }

    /// Ends what is with an upstream; it goes back unburned where that is safe.
    package func abort() {
        sweeper.stop()
        network.drain()
        runs.stop()
        dispatcher.abort()
    }

    /// Jobs that are claimed and not settled, and claims that are on their way.
    package var inFlight: Int { dispatcher.inFlight }
}
