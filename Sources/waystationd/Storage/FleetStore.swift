import RelayBase
import RelayConfig
import RelayEngine
import RelayFleet
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRoute
import RelayStore
import RelaySystemd
import Synchronization

/// A store in the database of a fleet; the state directory has the lock, and says who this node is.
final class FleetStore: DaemonStore {
    private let store: PostgreSQLJobStore
    private let directory: NodeDirectory
    private let shared = Mutex<FleetEvents?>(nil)

    /// How long a start waits for the database; after that the daemon is ready without it.
    static let longestStart = Duration.seconds(5)

    private init(_ store: PostgreSQLJobStore, _ directory: NodeDirectory) {
        self.store = store
        self.directory = directory
    }

    var jobs: any JobStore { store }
    var activities: [Activity] { [store.activity] }
    var standing: StoreFacts { store.standing }
    var refusal: StoreError? { store.refusal }
    var awaited: String { "the database can be used" }

    func tryOpening(at now: JobMoment) async throws(StoreError) -> Bool { store.refusal == nil }

    func lookAtReads(at now: Int64) -> (isStalled: Bool, thread: String)? { nil }

    func share(_ feed: EventFeed, on loop: EventLoop) {
        let events = FleetEvents(feed, store)
        shared.withLock { $0 = events }
        events.start(on: loop)
    }

    func close() async {
        await shared.withLock { $0 }?.finish()
        await store.close()
    }

    func configure(_ configuration: Configuration) { store.serve(configuration.routes.map(\.name)) }

    /// Takes the directory and begins to open the store; it is given also where the database is away.
    ///
    /// - Throws: what no time heals: `newerSchema`, `locked`, and what is wrong with the directory.
    static func open(
        _ path: String,
        _ configuration: Configuration,
        _ settings: FleetSettings,
        _ database: Database,
        _ given: JobStoreEvents
    ) async throws(StoreError) -> FleetStore {
        let machine = HostNames.machineID ?? "unknown"
        let directory = try NodeDirectory(path, machine: machine)
        let node = settings.node ?? HostNames.own
        var options = FleetOptions(
            database: settings.way(to: settings.hosts, node: node, database.secrets),
            node: node,
            identity: directory.identity,
            machine: "\(HostNames.own) (machine id \(machine))",
            version: Version.text,
            clock: SystemClock.boot
        )
        if let url = settings.listenURL {
            var direct = settings.way(to: url.hosts, node: node, database.secrets)
            (direct.isPooled, direct.user) = (false, url.user ?? direct.user)
            direct.database = url.database ?? direct.database
            options.direct = direct
        }
        options.lease = settings.lease
        options.connections = settings.connections
        options.sharesUsers = configuration.storage.sharesUsers
        if settings.accepts(.fsyncOff) { options.risks.insert(.fsyncOff) }
        if settings.accepts(.fullPageWritesOff) { options.risks.insert(.fullPageWritesOff) }
        if settings.accepts(.synchronousCommitOff) { options.risks.insert(.synchronousCommitOff) }
        if directory.holdsJobs {
            given.notice(
                "\(path)/jobs.db has jobs of the time before storage.postgresql: they are not delivered while that is set"
            )
        }
        let end = StartEnd()
        var events = given
        // Until the start is over what is fatal ends that alone, with its own words.
        events.fatal = { error in if end.take(error) { given.fatal(error) } }
        let opening = try PostgreSQLJobStore.start(options, database.library, events: events)
        let store = FleetStore(opening, directory)
        store.configure(configuration)
        if let error = await opening.opened(within: longestStart), !error.mayPass {
            await opening.close()
            throw error
        }
        if let missed = end.isOver() { throw missed }
        return store
    }

    /// The way to the database.
    struct Database {
        let library: PostgresLibrary
        let secrets: SecretBox
    }

    /// Whether the start is over, and what was fatal before.
    private final class StartEnd: Sendable {
        private let state = Mutex<(isOver: Bool, error: StoreError?)>((false, nil))

        /// - Returns: whether the start is over, so that somebody else has to be told.
        func take(_ error: StoreError) -> Bool {
            state.withLock { state in
                if !state.isOver { state.error = error }
                return state.isOver
            }
        }

        func isOver() -> StoreError? {
            state.withLock { state in
                state.isOver = true
                return state.error
            }
        }
    }
}

extension FleetSettings {
    /// The settings of a connection.
    fileprivate func way(
        to hosts: [DatabaseURL.Host],
        node: String,
        _ secrets: SecretBox
    ) -> PostgresSettings {
        let places = hosts.map { host in
            switch host {
            case .tcp(let name, let port): (host: name, port: Int(port))
            case .unix(let directory, let port): (host: directory, port: Int(port))
            }
        }
        let secret = password
        var settings = PostgresSettings(
            host: places[0].host,
            port: places[0].port,
            database: database,
            user: user,
            password: { secret.flatMap { secrets[$0] }.map { String(decoding: $0.bytes, as: UTF8.self) } },
            schema: schema,
            isPooled: isPooled,
            tls: protection,
            applicationName: "waystation \(node)"
        )
        settings.others = Array(places.dropFirst())
        return settings
    }

    private var protection: PostgresTLS {
        guard let tls else { return accepts(.unencrypted) ? PostgresTLS(.off) : .automatic }
        return PostgresTLS(
            tls.verifies ? .verified : .unverified,
            authorityFile: tls.authorityFile,
            certificate: tls.certificate.flatMap(SecretFiles.path),
            key: tls.key.flatMap(SecretFiles.path)
        )
    }
}

extension PostgresSettings {
    /// Leads to these hosts, of which the first that takes writes is used.
    fileprivate mutating func lead(to hosts: [DatabaseURL.Host]) {
        guard let first = hosts.first else { return }
        (host, port) = (first.name, Int(first.port))
        others = hosts.dropFirst().map { ($0.name, Int($0.port)) }
    }
}
