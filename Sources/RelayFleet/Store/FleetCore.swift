import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// A node of a fleet: what it knows of the database and has claimed there; confined to its loop.
final class FleetCore {
    let loop: EventLoop
    let options: FleetOptions
    /// Its own name.
    let node: NodeName
    let library: PostgresLibrary
    let pool: FleetPool
    let events: JobStoreEvents
    let statements: FleetStatements

    var clock = FleetClock()
    var lease: LeaseMachine { didSet { view.show(lease, of: generation) } }
    let view: NodeView
    /// The number of this start of the node, which no other start of any node has.
    var generation: Int64 = 0
    /// The first one of this process, by which bodies may be on their way that no job has yet; 0 before it.
    var firstGeneration: Int64 = 0
    /// The node whose users hand jobs over here.
    var home = FleetHome()
    /// The numbers of earlier starts, whose jobs are still to be taken up, and from where on they may have any.
    var former: [Int64] = []
    var formerReach = FleetReach(floor: .max, tokens: .max)
    var formerHorizon = FleetHorizon(arrival: 0)
    /// Counts the claims of this start.
    var nextToken: UInt64 = 1
    /// The jobs that this node has claimed, by position.
    var running: [Int64: FleetRow] = [:]
    /// The numbers of routes by their names, and back.
    var routes: [String: Int32] = [:]
    var routeNames: [Int32: String] = [:]
    /// The slots that take what comes now.
    var heads = FleetHeads()
    /// Until when statements may be under way that know of other heads, in monotonic milliseconds.
    var headsSettleAt = Int64.min
    /// The slot of the acceptance that is under way, and the position from which on it may have put jobs there.
    var acceptSlot: Int16 = 0
    var acceptFloor: Int64 = 0
    /// By route, the lines in which something may wait.
    var lines: [Int32: FleetLines] = [:]
    /// From which time on entries of `deferred` are looked at: those before it are gone.
    var deferredFloor = Int64.min
    /// When all entries of `deferred` are looked at again, in monotonic milliseconds.
    var (wholeDeferredAt, longDeferredAt): (Int64, Int64) = (0, 0)
    /// How many entries this node has put into `deferred`.
    var deferrals = 0
    /// When the next entry of `deferred` is due, by the database's clock.
    var nextDeferred: Int64?
    var accepting = FleetQueue<PendingAcceptance>()
    var settling = FleetQueue<PendingSettlement>()
    var facts = StoreFacts()
    /// When the last renewal of the lease was sent that succeeded, on the monotonic clock.
    var renewedAt: Instant?
    /// The oldest snapshot that was seen, by the session and its transaction, and when it was seen first, in milliseconds.
    var holder: (key: String, seen: Int64, holder: SnapshotHolder)?
    var notificationQueue: Int64 = 0
    /// Jobs that statements went on without.
    var putAside: UInt64 = 0
    /// When snapshots are looked at again, in monotonic milliseconds.
    var nextLook: Int64 = 0
    /// Where the sweeps go on among the jobs of the kept slot, and among those that ended without success.
    var keptCursor: Int64 = 0
    var sideCursor: Int64 = 0
    /// The owed notice that the last sweep came to.
    var owedCursor: Int64 = 0
    /// The reason for which the server refused a notice that is owed, as was last told.
    var refusedNotice: String?
    var retention = Retention()
    /// The times before which jobs that have succeeded, and others, were over for long enough at a sweep: they are gone, though
    /// their slot may not be emptied yet.
    var goneSucceeded = Int64.min
    var goneOthers = Int64.min
    var pauses: [String: RoutePause] = [:]
    /// Counts the changes of pauses by this node.
    var pauseChanges = 0
    var isClosing = false
    /// Why the store is not open; nil once it is.
    var refusal: StoreError? { didSet { publish() } }
    /// The highest position that a reply has told of: what is accepted from then on lies behind it.
    var highestSeq: Int64 = 0
    /// For each acceptance under way, the highest position that was known before it.
    var acceptanceFloors: [UInt64: Int64] = [:]
    var nextRound: UInt64 = 0
    /// For each claim under way, the number from which on it may claim.
    var claimFloors: [UInt64: Int64] = [:]
    /// Claims whose settlement may have been made: its reply was lost.
    var doubtful: Set<UInt64> = []
    /// Jobs of them that nobody has been given yet.
    var beingClaimed: Set<Int64> = []
    /// The routes that this node serves; nil before it was told.
    var servedRoutes: [String]?
    /// Since when no node that lives has a route, by its number.
    var strandedSince: [Int32: Int64] = [:]
    /// By route, the held jobs of which none waits for a node that has it.
    var heldForOthers: [Int32: Int64] = [:]
    var doubts = FleetDoubts()
    var isPromoting = false
    /// The words of the trouble that was last told of; nil when it is over.
    var lastTrouble: String?
    /// Since when the database is away, in milliseconds since 1970 UTC by this machine's clock.
    var awaySince: Int64 = SystemClock.wall() / 1_000_000
    /// Whether the beat goes on.
    var isBeating = false
    /// The connection on which hints of other nodes come, and the one on which those of this one go.
    var listener: PostgresConnection?
    var hinter: PostgresConnection?
    var isDialling = false
    var isHinting = false
    /// Events that others are to be told of, and how many they were told of.
    var untold: [SharedEvent] = []
    var toldEvents: Int64 = 0
    /// By the generation of others, the number of the last event that was heard of.
    var heardEvents: [Int64: Int64] = [:]
    /// The kinds of events that others were told are read here, and until when, in monotonic milliseconds.
    var readKinds: (kinds: String, until: Int64) = ("", 0)
    /// How soon it looks for work again where it hears no hints.
    var pace = LookPace()
    /// The database's time at the last look for dead nodes, and when that was asked for by the node's clock.
    var lastLook: (time: Int64, asked: Int64)?
    /// Whether another node lives, as far as is known.
    var hasPeers = false
    /// The work that other nodes are to be told of, by route.
    var hints: [Int32: FleetHint] = [:]

    init(
        _ options: FleetOptions,
        _ library: PostgresLibrary,
        _ events: JobStoreEvents,
        _ view: NodeView,
        on loop: EventLoop
    ) {
        self.loop = loop
        self.options = options
        node = NodeName(options.node)
        self.library = library
        self.events = events
        self.view = view
        refusal = view.refusal
        statements = FleetStatements(
            schema: FleetSchema(options.database.schema, options.slots),
            now: options.databaseClock,
            risks: options.risks
        )
        lease = LeaseMachine(lease: options.lease.saturatedNanoseconds)
        pool = FleetPool(
            options.database,
            library,
            limit: options.connections,
            statementTimeout: options.statementTimeout,
            on: loop
        )
        pool.recovered = { [weak self] in self?.publish() }
        pool.troubled = { [weak self] in
            self?.awaySince = SystemClock.wall() / 1_000_000
            self?.publish()
        }
        publish()
    }

    /// The database's present, as it is known here.
    var now: Int64 { options.present?() ?? clock.time(at: steady) }
    var steady: Int64 { loop.currentTime() / 1_000_000 }

    /// Starts work that nobody waits for.
    func spawn(_ body: @escaping @Sendable (FleetCore) async -> Void) {
        let box = LoopBound(self, loop)
        loop.spawn { await body(box.value) }
    }

    /// Runs statements in one round trip.
    func round(
        _ call: String,
        _ statements: [PostgresStatement]
    ) async throws(StoreError) -> [PostgresResult] {
        let statementTimeout = options.statementTimeout
        return try await pool.use(call) { connection throws(PostgresError) in
            try await connection.run(statements, within: statementTimeout)
        }
    }

    /// A batch of jobs that was begun at `begun`, in monotonic nanoseconds, is committed.
    func committed(since begun: Int64) {
        facts.commits += 1
        let taken = UInt64(clamping: (loop.currentTime() - begun) / 1_000)
        facts.commitTimes.buckets[DurationBuckets.commit.index(of: taken)] += 1
        facts.commitTimes.microseconds += taken
    }

    /// Takes the database's time from a reply to a statement that was sent at `sent`.
    func observe(_ time: Int64?, sent: Int64) {
        guard let time else { return }
        clock.observe(time, sent: sent, received: steady)
    }
}

/// Bytes of bodies at which a batch takes no more.
let batchBytes = 1 << 20

/// Work that goes in batches, one after the other.
struct FleetQueue<Item> {
    private(set) var items: [Item] = []
    /// Whether somebody is at it.
    var isWorked = false

    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ item: Item) { items.append(item) }

    /// Takes up to `most` of the first.
    mutating func take(_ most: Int) -> [Item] {
        let taken = Array(items.prefix(most))
        items.removeFirst(taken.count)
        return taken
    }

    /// The same, but no more than the first when they have more than `limit` bytes together.
    mutating func take(_ most: Int, within limit: Int, _ bytes: (Item) -> Int) -> [Item] {
        var sum = 0
        let count = items.prefix(most).prefix { item in
            defer { sum += bytes(item) }
            return sum < limit
        }
        .count
        return take(count)
    }

    mutating func putBack(_ some: [Item]) { items = some + items }
}

extension FleetCore {
    /// Notes that positions may be given from now on that no reply has told of.
    func beginAcceptance() -> UInt64 {
        nextRound += 1
        acceptFloor = highestSeq
        acceptanceFloors[nextRound] = acceptFloor
        return nextRound
    }

    func endAcceptance(_ round: UInt64) { acceptanceFloors[round] = nil }

    /// The lowest number that the next claim may have.
    var lowestToken: Int64 { generation << FleetTokens.bits | Int64(nextToken) }

    /// Notes that jobs may be claimed from now on that no reply has told of.
    func beginClaim() -> UInt64 {
        nextRound += 1
        claimFloors[nextRound] = lowestToken
        return nextRound
    }

    func endClaim(_ round: UInt64) { claimFloors[round] = nil }

    /// Such a claim may stand in the database, and nobody here holds it.
    func doubt(_ token: UInt64) {
        let number = Int64(bitPattern: token)
        doubts.add(number...number, arrival: arrival)
    }

    /// The jobs may have been claimed with their acceptance, and nobody here holds them.
    func doubt(_ jobs: [FleetAcceptance]) {
        let ids = jobs.filter { $0.job.upstream != nil }.map(\.id)
        guard !ids.isEmpty else { return }
        doubts.add(ids, generation << FleetTokens.bits...lowestToken - 1, from: acceptFloor, arrival: arrival)
    }

    /// When no statement is on its way any more that was sent before now.
    var arrival: Int64 { steady + options.longestWay.saturatedNanoseconds / 1_000_000 }

    /// Whether the claim that the row tells of is held here; it may be another's of a job that was held here once.
    func holds(_ row: FleetRow) -> Bool {
        running[row.seq]?.standing.machine.token == row.standing.machine.token
    }
}
