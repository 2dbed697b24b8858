import Glibc
import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelayTestSupport

/// One loop that serves one route, `up`, on a loopback port.
final class ServedLoop {
    let transport: ScriptedTransport
    let store: MemoryJobStore
    let durable: DurableJobs
    let time: VirtualTime
    private let loop: EventLoop
    private let server: LoopBound<LoopServer>
    let address: SocketAddress

    init(
        _ steps: [ScriptedTransport.Step] = [],
        limits: ServerLimits = ServerLimits(),
        role: Role = .submit,
        spool: any ReplaySpool = NoSpool(),
        memory: MemoryAccount = MemoryAccount(limit: 64 << 20)
    ) throws {
        let time = VirtualTime(.manual)
        self.time = time
        let store = MemoryJobStore(at: JobMoment(time))
        self.store = store
        let transport = ScriptedTransport(steps, time: time)
        let policy = RoutePolicy(upstreams: [Upstream(name: "u", origin: .unix(path: "/u"))])
        let snapshot = Snapshot(
            routes: [Route(name: "up", policy: policy)],
            vault: CredentialVault([], secrets: [:]),
            settings: Snapshot.Settings()
        )
        let engine = Engine(snapshot: snapshot, time: time, entropy: SeededEntropy())
        let loop = try EventLoop.start(name: "served")
        let audience = Listeners(engine, feed: EventFeed())
        let announcer = audience.announcer()
        let ports = RelayPorts(
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            sink: announcer,
            start: { loop.spawn($0) }
        )
        let durable = DurableJobs(
            store: store,
            audience,
            announcer,
            settings: DurableJobs.Settings(),
            digest: { $0 }
        )
        self.durable = durable
        server = loop.bind {
            LoopServer(
                loop: loop,
                engine: engine,
                durable: durable,
                relay: Relay(ports: ports),
                limits: limits,
                spool: spool,
                memory: memory,
                control: NoControl(),
                limiter: ConnectionLimiter(ConnectionLimits())
            )
        }
        self.loop = loop
        self.transport = transport
        let descriptor = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
        guard let address = Socket.localAddress(descriptor.raw) else {
            throw PosixError("getsockname", .current)
        }
        self.address = address
        let raw = descriptor.release()
        let identity = ListenerIdentity(
            name: "jobs",
            role: role,
            users: [],
            isUnix: false,
            unit: { _ in nil }
        )
        let listening = Handover<PosixError?>()
        loop.execute { [server] in
            do throws(PosixError) {
                try server.value.listen(FileDescriptor(raw), as: identity)
                listening.give(nil)
            } catch {
                listening.give(error)
            }
        }
        if let error = listening.take() { throw error }
    }

    /// The server stops; it has begun to when this returns.
    func drain() {
        let begun = Handover<Void>()
        loop.execute { [server] in
            server.value.drain()
            begun.give(())
        }
        begun.take()
    }

    deinit { loop.stop() }
}

/// Takes no body.
final class NoSpool: ReplaySpool {
    func copy(length: UInt64?) throws(StoreError) -> any ReplayCopy {
        throw StoreError(.full, "there is no spool")
    }
}

private struct NoControl: DaemonControl {
    let version = "0"
    let unready: Problem? = nil
    var contract: [UInt8] { OpenAPI.json }

    func status() -> [UInt8] { [] }

    func reload() async -> (status: UInt16, document: [UInt8]) { (200, []) }

    func troubles() -> [UInt8] { [] }

    func metrics(_ format: MetricsText.Format) async -> [UInt8] { [] }

    func compose(_ document: @escaping @Sendable () -> [UInt8]) async -> [UInt8] { document() }

    func checkEndpoints(_ limit: Duration, isStrict: Bool) async throws(Problem) -> [UInt8] { [] }

    func constrained() -> [UInt8] { [] }

    func order(_ order: ConstrainedOrder, by client: ClientIdentity?) -> Bool { false }
}
