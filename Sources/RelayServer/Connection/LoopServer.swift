import RelayBase
package import RelayCore
package import RelayEngine
import RelayHTTP
package import RelayJobs
package import RelayPosix
package import RelayRoute

/// One loop's part of the server: its connections, and what they share.
///
/// Confined to the loop.
package final class LoopServer {
    package let loop: EventLoop
    let engine: Engine
    let durable: DurableJobs
    let relay: Relay
    /// The daemon of a fleet whose users those of this machine are.
    let usersNode: NodeName
    let limits: ServerLimits
    let spool: any ReplaySpool
    let memory: MemoryAccount
    let control: any DaemonControl
    let limiter: ConnectionLimiter
    /// The counts of its refusals.
    let problems: ProblemTally
    /// The names of those who ask for something.
    let names: UserNames
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var listeners: [AcceptWatcher] = []
    /// The buffer that answers are composed in.
    let output = OutputLoan()
    private(set) var isDraining = false
    /// Connections without a place, the oldest first, and what each is told, or was told, once it has asked.
    var refusals: [(connection: Connection, problem: Problem)] = []
    /// Answers that are on their way, by their connections.
    @safe @exclusivity(unchecked) var streams: [ObjectIdentifier: (serial: Int, stream: RouteState.Stream)] =
        [:]
    var nextStream = 0
    let youngStreams: YoungStreams
    private let clock: LoopClock
    let passThrough: PassThrough
    let idleNanoseconds: Int64
    private lazy var sweep = LoopTimer { [unowned self] in lookRound() }
    /// When the connections are looked at next; no deadline of theirs is before it but for `sweepPeriod`.
    private(set) var nextLook = Int64.max

    /// How late a connection's deadline may be noticed, in nanoseconds: one timer serves all of them.
    private static let sweepPeriod: Int64 = 250_000_000

    package init(
        loop: EventLoop,
        engine: Engine,
        durable: DurableJobs,
        relay: Relay,
        limits: ServerLimits,
        spool: any ReplaySpool,
        memory: MemoryAccount,
        control: any DaemonControl,
        limiter: ConnectionLimiter,
        problems: ProblemTally = ProblemTally(),
        names: UserNames = UserNames(),
        passThrough: PassThroughMode = .on
    ) {
        self.loop = loop
        clock = LoopClock(loop)
        youngStreams = YoungStreams(loop)
        self.engine = engine
        self.durable = durable
        usersNode = durable.store.member?.usersNode ?? .none
        self.relay = relay
        self.limits = limits
        idleNanoseconds = limits.idle.saturatedNanoseconds
        self.spool = spool
        self.memory = memory
        self.control = control
        self.limiter = limiter
        self.problems = problems
        self.names = names
        self.passThrough = PassThrough(loop, clock, engine, relay, passThrough)
    }

    /// Its part in delivering kept jobs.
    package var deliveries: DeliveryLoop {
        DeliveryLoop(relay, passThrough.isOn ? LoopPassage(passThrough: LoopBound(passThrough, loop)) : nil)
    }

    func intake(countsBytes: Bool = true) -> JobIntake {
        JobIntake(durable, relay.ports, countsBytes: countsBytes)
    }

    func replay(_ job: StoredJob) -> JobReplay { JobReplay(of: job, in: durable, relay.ports) }

    /// Accepts connections of `listener`, whose descriptor is this loop's own copy.
    package func listen(
        _ descriptor: consuming FileDescriptor,
        as listener: ListenerIdentity
    ) throws(PosixError) {
        let watcher = AcceptWatcher(server: self, listener: listener)
        try loop.add(watcher, descriptor, .readable)
        listeners.append(watcher)
    }

    /// Stops accepting, closes idle connections, and lets the others finish the request they carry.
    package func drain() {
        isDraining = true
        for listener in listeners { listener.close() }
        listeners = []
        for connection in connections.values { connection.drain() }
    }

    /// Ends every request under way.
    package func abort() {
        for connection in connections.values {
            connection.tellCut()
            connection.abort()
        }
    }

    func opened(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = connection
        connection.listener.cells.opened()
    }

    /// Ends the connections without a place that have been there longest, where one more is too many: whoever asks has
    /// its answer in a moment, and who only holds one holds nothing for long.
    func endOldestRefusals() {
        while refusals.count >= max(1, limits.maxRefusals) {
            let isAnswered = refusals.firstIndex { $0.connection.phase == .lingering }
            refusals[isAnswered ?? 0].connection.endRefusal()
        }
    }

    /// The problem that a connection without a place is told.
    func refusal(of connection: Connection) -> Problem? {
        refusals.first { $0.connection === connection }?.problem
    }

    /// A connection has a deadline before the next look.
    @inline(never)
    func look(by deadline: Int64) {
        nextLook = min(nextLook, max(deadline, loop.now + LoopServer.sweepPeriod))
        loop.schedule(sweep, at: nextLook)
    }

    private func lookRound() {
        let now = loop.now
        nextLook = .max
        for connection in connections.values { connection.swept(now: now) }
        let first = connections.values.reduce(Int64.max) { min($0, $1.deadline) }
        if first < nextLook { look(by: first) }
    }

    func closed(_ connection: Connection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        connection.listener.cells.closed()
        connection.streamEnds()
        if let slot = connection.slot {
            limiter.release(slot)
        } else {
            refusals.removeAll { $0.connection === connection }
        }
        guard let share = connection.share else { return }
        limiter.note(share)
        engine.callers.release(share)
    }

    /// Adds the `Date` line.
    func appendDate(to output: inout OutputBuffer) { output.append(clock.dateLine) }
}

/// The properties that a listener's connections share, as one loop has them.
package final class ListenerIdentity: Sendable {
    package let name: String
    package let role: Role
    /// Empty allows everyone who can connect.
    package let users: [UInt32]
    package let isUnix: Bool
    /// Its name where operators come in by it; nil for a listener of callers.
    package var control: String? { role == .admin ? name : nil }
    /// By what its callers come in.
    var door: ConnectionLimitMachine.Door {
        switch role {
        case .admin: .operators(listener: name)
        case .metrics: .metrics(listener: name)
        case .submit, .read, .operate: .shared
        }
    }
    /// The counts of answers given here and of connections.
    package let cells = ListenerCells()
    /// Names the unit of a process; nil where there is none.
    package let unit: @Sendable (Int32) -> String?

    package init(
        name: String,
        role: Role,
        users: [UInt32],
        isUnix: Bool,
        unit: @escaping @Sendable (Int32) -> String?
    ) {
        self.name = name
        self.role = role
        self.users = users
        self.isUnix = isUnix
        self.unit = unit
    }

    /// The same for another loop.
    package func copy() -> ListenerIdentity {
        ListenerIdentity(name: name, role: role, users: users, isUnix: isUnix, unit: unit)
    }
}
