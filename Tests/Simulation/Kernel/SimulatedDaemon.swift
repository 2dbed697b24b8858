import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport

/// The engine of a world with its kept jobs and the relays that carry them out, put together as in the daemon.
class SimulatedDaemon {
    typealias Starter = @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    let engine: Engine
    let jobs: DurableJobs
    let notices: Notices
    let announcer: Announcer
    let relays: [Relay]

    /// `clock` is that of the relays, where it is not the engine's; `document` is the body of a notice.
    init(
        _ snapshot: Snapshot,
        _ store: any JobStore,
        time: any TimeSource,
        clock: (any TimeSource)? = nil,
        transport: any Transport,
        listener: SimulatedListener,
        entropy: () -> any Entropy,
        settings: DurableJobs.Settings = DurableJobs.Settings(),
        feed: Int = 16,
        lanes: Int = 1,
        document: @escaping @Sendable (WholeJob) -> [UInt8] = { _ in [] },
        start: @escaping Starter
    ) {
        engine = Engine(snapshot: snapshot, time: time, entropy: entropy())
        let audience = Listeners(engine, feed: EventFeed(capacity: feed))
        let announcer = audience.announcer(and: [listener])
        self.announcer = announcer
        notices = Notices(audience, announcer) { whole, _ in document(whole) }
        jobs = DurableJobs(store: store, audience, announcer, notices, settings: settings, digest: { $0 })
        relays = (0..<lanes).map { _ in
            let ports = RelayPorts(
                transport: transport,
                time: clock ?? time,
                entropy: entropy(),
                sink: announcer,
                start: start
            )
            return Relay(ports: ports)
        }
    }

    func run(_ admission: Admission, body: Body = .empty, keeper: (any RequestKeeper)? = nil) async -> Outcome
    {
        await engine.run(admission, body: body, relay: relays[0], keeper: keeper)
    }

    func admit(
        _ route: String,
        _ target: String,
        _ method: Method,
        _ terms: RequestTerms,
        user: UInt32,
        length: UInt64 = 0
    ) throws(Problem) -> Admission {
        try engine.admit(
            route: route,
            target: target,
            method: method,
            terms: terms,
            length: length,
            client: ClientIdentity(user: user, process: 7, groups: [], unit: nil)
        )
    }
}

extension MemoryJobStore {
    func all(of route: String? = nil) async throws(StoreError) -> [StoredJob] {
        var filter = JobFilter()
        filter.route = route
        return try await jobs(filter, order: .oldestFirst, limit: .max, after: nil).jobs
    }
}

extension Confined where Value: SimulatedDaemon {
    func start() async throws(StoreError) {
        try await value.jobs.start(on: value.relays.map { DeliveryLoop($0) })
    }
}
