import Glibc
import RelayBase
import RelayConfig
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRoute
import RelayServer
import RelayStore
import RelaySystemd
import RelayTransport
import Synchronization

/// The parts of a running daemon and what holds them together.
final class Daemon: Sendable {
    let engine: Engine
    let storage: JobStorage
    var durable: DurableJobs { storage.jobs }
    let journal: Journal
    let events: JournalEvents
    let audience: Listeners
    /// For whoever tells of something on no loop that serves.
    let announcer: Announcer
    let condition: ConstrainedCondition
    let notifier = ServiceNotifier()
    let file: String
    let startedAt = SystemClock.wallSeconds()
    /// Whether the kernel names every caller by the same user.
    let hidesCallers = UserNamespace.hidesCallers
    let startedTicks = SystemClock.monotonic()
    let limiter: ConnectionLimiter
    let memory: MemoryAccount
    let secrets: SecretBox
    let tokens: RefreshTokens
    let loops: [EventLoop]
    private let passThrough: PassThroughMode
    /// Reads files and decides; may block, and no request waits for it.
    let controlLoop: EventLoop
    let servers = Mutex<[(EventLoop, LoopBound<LoopServer>)]>([])
    let transports = Mutex<[LoopTransport]>([])
    /// Where kept jobs are delivered.
    private let deliveryLoops = Mutex<[DeliveryLoop]>([])
    /// The tallies of each loop's refusals.
    let problems = Mutex<[ProblemTally]>([])
    private let userNames = UserNames()
    /// Each loop's own.
    let listeners = Mutex<[ListenerIdentity]>([])
    let desk = MetricsCache()
    let reloadError = Mutex<(error: String, at: Int64)?>(nil)
    /// The names of the sockets that the service manager has passed.
    let passed: [String]
    /// Of the configuration the process started with.
    let firstSettings: FixedSettings
    /// Of the configuration in force.
    let loaded: Mutex<LoadedConfiguration>
    let endpointCheck = EndpointCheck()
    let settings: Mutex<FixedSettings>
    let ready = Atomic<Bool>(false)
    let watchdog = Mutex<Watchdog?>(nil)
    private let ownPaths = Mutex<[String]>([])

    /// Starts the loops, of which `count` serve, and opens the job store in `directory`.
    init(
        _ loaded: LoadedConfiguration,
        loops count: Int,
        passThrough: PassThroughMode = .on,
        directory: String,
        passed: [String],
        library: PostgresLibrary? = nil,
        journal: Journal
    ) throws(StartError) {
        self.passed = passed
        self.passThrough = passThrough
        file = loaded.file
        firstSettings = FixedSettings(loaded.configuration)
        settings = Mutex(firstSettings)
        self.loaded = Mutex(loaded)
        self.journal = journal
        let feed = EventFeed(first: EventFeed.firstNumber(at: SystemClock.wall() / 1_000_000))
        events = JournalEvents(journal: journal, level: loaded.configuration.log.level.priority)
        condition = ConstrainedCondition(journal: journal)
        condition.install(loaded.configuration.constrained)
        secrets = SecretBox(loaded.secrets)
        tokens = RefreshTokens(
            directory: directory,
            digest: { Digest.hash($0) },
            notice: { journal.record(JournalRecord(.critical, .storeNotice, $0)) }
        )
        let engine = Engine(
            snapshot: loaded.snapshot(previous: nil, tokens: tokens, shards: count + 1),
            time: SystemTime(),
            entropy: MachineEntropy()
        )
        self.engine = engine
        engine.asksForNetwork { [condition] in condition.isConstrained }
        engine.shedding.configure(loaded.configuration.limits.forShedding)
        audience = Listeners(engine, feed: feed)
        announcer = audience.announcer(and: [events])
        limiter = ConnectionLimiter(loaded.configuration.limits.forConnections)
        memory = MemoryAccount(limit: MemoryLimit.account(loaded.configuration.limits.memory))
        do throws(PosixError) {
            controlLoop = try EventLoop.start(name: "control")
            var loops: [EventLoop] = []
            for index in 0..<count { loops.append(try EventLoop.start(name: "loop-\(index)")) }
            self.loops = loops
        } catch {
            throw StartError(message: "cannot start an event loop: \(error)")
        }
        storage = try JobStorage.open(
            directory,
            loaded.configuration,
            audience,
            announcer,
            on: controlLoop,
            library.map { [secrets] in FleetStore.Database(library: $0, secrets: secrets) },
            journal,
            notifier
        )
        condition.whenChanged { [jobs = storage.jobs] in jobs.networkChanged() }
    }

    /// Opens the listeners on every loop.
    func open(_ listeners: consuming DaemonListeners) throws(StartError) {
        ownPaths.withLock { $0 = listeners.ownPaths }
        let resolver = NameResolver()
        for (index, loop) in loops.enumerated() {
            let copies = try listeners.copies()
            let started = Handover<Result<LoopBound<LoopServer>, PosixError>>()
            loop.execute { [self] in
                let server = Result { () throws(PosixError) in
                    try serve(on: loop, shard: index + 1, copies, resolver)
                }
                started.give(server)
            }
            switch started.take() {
            case .success(let server): servers.withLock { $0.append((loop, server)) }
            case .failure(let error): throw StartError(message: "cannot serve on a listener: \(error)")
            }
        }
        listeners.close()
    }

    private func serve(
        on loop: EventLoop,
        shard: Int,
        _ listeners: [(identity: ListenerIdentity, descriptor: Int32)],
        _ resolver: NameResolver
    ) throws(PosixError) -> LoopBound<LoopServer> {
        let transport = LoopTransport(
            on: loop,
            resolver: resolver,
            secrets: { [secrets] in secrets[$0] },
            memory: memory
        )
        transports.withLock { $0.append(transport) }
        let ports = RelayPorts(
            transport: transport,
            time: LoopTime(loop: loop),
            entropy: MachineEntropy(),
            sink: audience.announcer(and: [events], shard: shard),
            start: { loop.spawn($0) },
            execute: { loop.execute($0) },
            isConstrained: { [condition] in condition.isConstrained },
            presentUse: { [engine] context in engine.constrainedUse(of: context) },
            isStopping: { [engine] in engine.isAborted },
            signer: OpenSSLSigner(secrets: { [secrets] in secrets[$0] }),
            memory: memory,
            shard: shard
        )
        var added = HeaderFields()
        added.append("Via", "1.1 \(RelayFields.pseudonym)")
        let relay = Relay(ports: ports, added: added)
        let tally = ProblemTally()
        problems.withLock { $0.append(tally) }
        let server = LoopServer(
            loop: loop,
            engine: engine,
            durable: durable,
            relay: relay,
            limits: ServerLimits(),
            spool: storage.spool,
            memory: memory,
            control: self,
            limiter: limiter,
            problems: tally,
            names: userNames,
            passThrough: passThrough
        )
        deliveryLoops.withLock { $0.append(server.deliveries) }
        for (identity, descriptor) in listeners {
            self.listeners.withLock { $0.append(identity) }
            try server.listen(FileDescriptor(descriptor), as: identity)
        }
        return LoopBound(server, loop)
    }

    /// Begins to deliver what is in the store.
    func deliver() throws(StartError) {
        let deliveryLoops = deliveryLoops.withLock { $0 }
        guard storage.isOpen, !storage.isShared else {
            storage.startLater(on: deliveryLoops, waitingOn: controlLoop)
            if storage.isShared { storage.waitForStart() }
            return
        }
        let started = Handover<StoreError?>()
        controlLoop.spawn { [durable] in
            do throws(StoreError) {
                try await durable.start(on: deliveryLoops)
                started.give(nil)
            } catch {
                started.give(error)
            }
        }
        // The callers are the loops' by now: the next start refuses them, after it has looked through the store.
        if let error = started.take() { throw StartError(message: error.message) }
    }

    var storageState: StorageState {
        let facts = storage.facts
        if facts.absence != nil { return .unavailable }
        if facts.isGone { return .gone }
        return storage.isStalled ? .stalled : durable.acceptance.lacksSpace ? .full : .ok
    }

    var report: StatusReport {
        var report = StatusReport(engine, durable, storage.facts, storageState, memory.usage)
        report.processID = getpid()
        (report.startedAt, report.startedTicks) = (startedAt, startedTicks)
        (report.connections, report.refusedConnections) = (limiter.current, limiter.refused)
        report.spool = (storage.spool.usage.used, storage.spool.usage.limit)
        report.reloadError = reloadError.withLock { $0 }
        report.stalledSince = storage.stalledSince
        report.isConstrained = condition.isConstrained
        report.hidesCallers = hidesCallers
        report.journal = (journal.blockedSeconds, journal.lost)
        return report
    }

    /// Ends the process after the last records and messages are out.
    func exit(_ code: Int32) -> Never {
        for path in ownPaths.withLock({ $0 }) { unsafe unlink(path) }
        journal.flush(milliseconds: 2000)
        notifier.flush(milliseconds: 1000)
        // Nothing is left to be destroyed in order, and other threads still run: no handlers at exit.
        _exit(code)
    }
}
