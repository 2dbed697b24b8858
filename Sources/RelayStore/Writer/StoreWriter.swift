import RelayBase
import RelayJobs
import RelayRecords

/// The one connection that writes, and what goes with it; belongs to the store's thread.
///
/// The state that it keeps in memory beside the tables is `Volatile`: put back as a whole when a transaction is.
final class StoreWriter {
    let database: Database
    let files: BodyFiles
    let options: StoreOptions
    let shared: StoreShared
    let epoch: Int64
    /// The files that have to stay in their places for a transaction to be found by the next start.
    var standing: [FileIdentity] = []
    var routes: [String: Int64] = [:] {
        didSet { latestRoute = nil }
    }
    /// The one that was asked for last: nearly always that of the job before.
    private var latestRoute: (name: String, number: Int64)?
    var routeNames: [Int64: String] = [:]
    var keys: IdempotencyKeys
    var tails: OrderingTails
    var volatile: Volatile
    /// Rows of jobs that run, as the open transaction has them: their settlements need not read them again.
    private var running: [Int64: JobRow] = [:]
    private static let runningLimit = 8_192
    /// As the open transaction has them; the tables have the same.
    var plain = PlainJobs()
    var lately = AcceptedJobCache()
    /// By route, where usual jobs wait; nothing of routes where nobody has looked yet.
    var usual: [Int64: UsualQueues] = [:]
    /// By route, whose turn it is.
    var turns: [Int64: ClaimTurns] = [:]
    /// Room in which the records of plain rows are written, one after the other.
    var record = RecordWriter(capacity: 4_096)
    var commits: UInt64 = 0
    /// Whether nothing may be accepted: what is told of an ending waits then, as the ending does not.
    var isFull = false
    /// Bytes that a transaction erases before a sweep stops: the log has to hold what they are overwritten with.
    var eraseLimit = Int.max

    struct Volatile {
        var timeline: StoreClock
        var nextSeq: Int64
        /// Numbers below it may be given without asking the tables.
        var seqLimit: Int64
        var nextToken: UInt64
        /// Changes of `tally` in this transaction.
        var tally: [(key: TallyKey, change: Int)] = []
        /// Changes of `zone` in this transaction.
        var openZones: [(zone: PlainZone, change: Int64)] = []
        var newlyDue: [(zone: PlainZone, due: Int64)] = []
        /// Zones whose first scheduled job may be another one than their row says.
        var lostDue: Set<PlainZone> = []
        var newlyFinished: [(zone: PlainZone, finishedAt: Int64)] = []
        /// Zones whose row says when one of their jobs was over, and the last of them.
        var finishedZones: Set<PlainZone> = []
        var finishedZone: PlainZone?
        /// Routes that have got work, or work that is due sooner, in this transaction.
        var ready: [(route: Int64, work: FreshWork)] = []
        /// Files that nothing refers to once this transaction is on disk.
        var orphans: [String] = []
        /// No scheduled job is due before it.
        var nextScheduled: Int64
        /// By route, no waiting job is due before it; nothing of routes where nobody has looked yet.
        var firstDue: [Int64: Int64] = [:]
        /// Whether jobs may wait that were accepted before there were turns.
        var hasUnturned = false
        /// The clock has stepped: dated jobs have to be put on the line anew, from this position on.
        var redateFrom: Int64?
        /// The line as it was last written, and how many rows had been changed by then.
        var written = (line: Int64.min, skew: Int64(0), changes: Int64.min)
        /// Where each state's search for bodies to drop goes on.
        var expunged: [JobState: (finished: Int64, seq: Int64)] = [:]
        /// Jobs that this transaction has ended without anybody's asking for it.
        var ended: [JobChange] = []
        /// More of them.
        var untold = 0
        /// The messages that an operator is to read once this transaction is on disk.
        var notices: [String] = []
        /// Jobs that this transaction has ended, and of which another route is to be told.
        var owing: [Int64] = []
        /// Jobs that this transaction has removed before their notices were made.
        var lost: [String] = []
        /// Rows of `owed`.
        var owed = 0
        /// The one of them that the last sweep came to.
        var owedFrom: Int64 = 0
        /// Notices that are not over, and as many as the tables say.
        var openNotices = (count: 0, written: 0)
        /// The notices that this transaction has made.
        var noticed: [MadeNotice] = []
        /// Whether something was erased that the log still has.
        var hasErased = false
        /// Bytes of bodies that this transaction has erased in the database.
        var erased = 0
        var operations: UInt64 = 0
        /// Of bodies in files.
        var fileBytes: Int64 = 0
    }

    struct TallyKey: Equatable {
        var route: Int64
        var state: JobState
        var minute: Int64
    }

    init(
        database: Database,
        files: BodyFiles,
        options: StoreOptions,
        shared: StoreShared,
        epoch: Int64,
        keys: IdempotencyKeys,
        tails: OrderingTails,
        volatile: Volatile
    ) {
        self.database = database
        self.files = files
        self.options = options
        self.shared = shared
        self.epoch = epoch
        self.keys = keys
        self.tails = tails
        self.volatile = volatile
    }

    var now: Int64 { volatile.timeline.now }
    /// The moment from which a span that begins now is counted to its end.
    var latest: Int64 { volatile.timeline.latest }

    /// Takes the caller's clocks; after a step of the wall clock dated jobs come first.
    func advance(to moment: JobMoment) throws(StoreError) {
        guard volatile.timeline.advance(to: moment) else { return }
        volatile.redateFrom = 0
        // With the first of the dated jobs, and not at the end: what is on the new line must not be read by the old one.
        try keepTimeline()
        try wake()
    }
}

extension StoreWriter {
    func row(_ seq: Int64) throws(StoreError) -> JobRow? {
        if let known = running[seq] { return known }
        do throws(StoreError) {
            if plain.running[seq] == nil, let row = try database.usualRow(seq) { return row }
            return try plainRow(seq)
        } catch {
            if error.code == .corrupt { shared.countCorrupt() }
            throw error
        }
    }

    func remember(_ row: JobRow) {
        guard row.machine.state == .running, running.count < Self.runningLimit || running[row.seq] != nil
        else { return forgetRow(row.seq) }
        running[row.seq] = row
    }

    func forgetRow(_ seq: Int64) { running[seq] = nil }

    /// The open transaction has never been.
    func forgetRows() {
        running.removeAll(keepingCapacity: true)
        lately.removeAll()
        usual.removeAll()
    }

    func seq(of id: JobID) throws(StoreError) -> Int64? { try database.seq(of: id) }

    func corrupt(_ seq: Int64) -> StoreError {
        shared.countCorrupt()
        return StoreError(
            .corrupt,
            "cannot read job number \(seq) of \(database.path): it is not what was stored"
        )
    }

    /// Puts `row` in the place of `old` and moves the counts; a job that has changed is plain no more.
    func save(_ row: JobRow, replacing old: JobRow) throws(StoreError) {
        var row = row
        if row.machine.finishedAt != nil, old.machine.finishedAt == nil { row.machine.finishedAt = latest }
        if old.isPlain {
            try unfold(row.seq)
            row.isPlain = false
        }
        let machine = row.machine
        if machine.isNoticeOwed != old.machine.isNoticeOwed { try noteNotice(row) }
        let stays =
            row.side == old.side && machine.runAt == old.machine.runAt
            && machine.expiresAt == old.machine.expiresAt
        try write(row, stays: stays)
        noteQueue(row, before: old)
        try mark(row, before: old)
        if machine.state == .running || old.machine.state == .running { remember(row) }
        if old.machine.state != machine.state {
            count(old, -1)
            count(row, 1)
        }
        noteWaiting(row, before: old)
    }

    /// `stays` says that nothing has changed that only some changes touch: SQLite rewrites every index that has a named
    /// column, whether its value is another or not.
    func write(_ row: JobRow, stays: Bool) throws(StoreError) {
        let columns = """
            state = ?2, reason = ?3, lane = ?4, fin = ?5, attempts = ?6, spent = ?7, crashes = ?8, token = ?9,
            version = ?10, flags = ?11, kind = ?12, ending = ?13, prv = ?14, nxt = ?15, sum = ?16, earlier = ?17,
            status = ?18, upstream = ?19, began = ?20
            """
        let update =
            stays
            ? try database.statement(named: "stay", "UPDATE job SET \(columns) WHERE seq = ?1")
            : try database.statement(
                named: "move",
                "UPDATE job SET \(columns), side = ?21, run_at = ?22, expires = ?23 WHERE seq = ?1"
            )
        let machine = row.machine
        update.bind(1, row.seq)
        update.bind(2, Int64(machine.state.rawValue))
        update.bind(3, Int64(machine.reason?.rawValue ?? 0))
        update.bind(4, row.queue)
        update.bind(5, machine.finishedAt)
        update.bind(6, Int64(machine.attempts))
        update.bind(7, Int64(machine.spentAttempts))
        update.bind(8, Int64(machine.crashes))
        update.bind(9, Int64(bitPattern: machine.token))
        update.bind(10, Int64(bitPattern: machine.version))
        update.bind(11, row.flags)
        update.bind(12, machine.failureKind?.rawValue)
        update.bind(13, machine.end?.rawValue)
        update.bind(14, row.previous)
        update.bind(15, row.next)
        update.bind(16, row.sum)
        update.bind(17, Int64(machine.earlierAttempts))
        update.bind(18, machine.failureStatus.map { Int64($0.rawValue) })
        update.bind(19, machine.begun?.upstream)
        update.bind(20, machine.begun?.beganAt)
        if !stays {
            update.bind(21, row.side)
            update.bind(22, machine.runAt)
            update.bind(23, machine.expiresAt)
        }
        try update.run()
    }

    /// Jobs told of one by one for one transaction.
    private static let endedLimit = 10_000

    /// Remembers a job whose end nobody hears of otherwise.
    func tell(_ job: JobChange) {
        if volatile.ended.count < Self.endedLimit { volatile.ended.append(job) } else { volatile.untold += 1 }
    }

    func tell(_ row: JobRow) { tell(report(row)) }

    /// `old` is what it was before, where that is not said by the cause.
    func report(_ row: JobRow, _ cause: JobChange.Cause = .store, before old: JobRow? = nil) -> JobChange {
        JobChange(
            id: row.id,
            route: routeNames[row.route] ?? "",
            user: row.user,
            state: row.machine.state,
            reason: row.machine.waitReason,
            end: row.machine.end,
            attemptCount: Int(row.machine.attempts),
            cause: cause,
            isRevived: old?.machine.state.isTerminal == true && !row.machine.state.isTerminal
        )
    }

    /// Remembers what a changed job means for those who look for work.
    func noteWaiting(_ row: JobRow, before old: JobRow?) {
        let machine = row.machine
        if machine.state == .scheduled { volatile.nextScheduled = min(volatile.nextScheduled, machine.runAt) }
        guard machine.isAwaited,
            old?.machine.isAwaited != true || machine.runAt < old?.machine.runAt ?? .max
                || machine.isReady && old?.machine.isReady != true
        else { return }
        if let first = volatile.firstDue[row.route], machine.runAt < first {
            volatile.firstDue[row.route] = machine.runAt
        }
        noteReady(row.route, dueAt: machine.isReady ? machine.runAt : .max)
    }

    /// Remembers that a route has got work.
    func noteReady(_ route: Int64, dueAt due: Int64) {
        // Nearly always that of the job before.
        if volatile.ready.last?.route != route { volatile.ready.append((route, FreshWork())) }
        volatile.ready[volatile.ready.count - 1].work.add(dueAt: due, now: now)
    }

    /// The routes by their names, each once.
    func named(_ ready: [(route: Int64, work: FreshWork)]) -> [String: FreshWork] {
        var named: [String: FreshWork] = [:]
        for (route, work) in ready {
            guard let name = routeNames[route] else { continue }
            named[name, default: FreshWork()].add(work)
        }
        return named
    }

    func count(_ row: JobRow, _ change: Int) {
        count(row.route, row.machine.state, created: row.created, change)
        if row.user == JobRecord.Submitter.ofNotices.user, !row.machine.state.isTerminal {
            volatile.openNotices.count += change
        }
    }

    /// Counts a job that was accepted at that wall millisecond.
    func count(_ route: Int64, _ state: JobState, created: Int64, _ change: Int) {
        let key = TallyKey(route: route, state: state, minute: state.isTerminal ? 0 : created / 60_000)
        // Nearly always those of the jobs before.
        for index in volatile.tally.indices.suffix(8) where volatile.tally[index].key == key {
            volatile.tally[index].change += change
            return
        }
        volatile.tally.append((key, change))
    }

    /// Writes the changed counts; the last thing in every transaction.
    func flushTally() throws(StoreError) {
        if !volatile.owing.isEmpty { try makeNotices() }
        if !volatile.lost.isEmpty {
            volatile.notices.append(NoticeMaker.lost(volatile.lost))
            volatile.lost = []
        }
        try flushZones()
        guard !volatile.tally.isEmpty else { return }
        for (key, change) in volatile.tally where change != 0 { try add(Int64(change), to: key) }
        volatile.tally.removeAll(keepingCapacity: true)
        guard volatile.openNotices.count != volatile.openNotices.written else { return }
        volatile.openNotices.written = volatile.openNotices.count
        try setMeta("notices", Int64(volatile.openNotices.count))
    }

    /// Nearly always there is a row, and stays one.
    private func add(_ change: Int64, to key: TallyKey) throws(StoreError) {
        let add = try database.statement(
            "UPDATE tally SET n = n + ?4 WHERE route = ?1 AND state = ?2 AND minute = ?3 AND n + ?4 <> 0"
        )
        add.bind(key)
        add.bind(4, change)
        try add.run()
        guard database.changes == 0 else { return }
        let remove = try database.statement(
            "DELETE FROM tally WHERE route = ?1 AND state = ?2 AND minute = ?3"
        )
        remove.bind(key)
        try remove.run()
        guard database.changes == 0 else { return }
        let insert = try database.statement(
            "INSERT INTO tally(route, state, minute, n) VALUES(?1, ?2, ?3, ?4)"
        )
        insert.bind(key)
        insert.bind(4, change)
        try insert.run()
    }

    /// A number no job has had.
    func takeSeq() throws(StoreError) -> Int64 {
        if volatile.nextSeq >= volatile.seqLimit {
            volatile.seqLimit = volatile.nextSeq + 65_536
            try setMeta("seq", volatile.seqLimit)
        }
        defer { volatile.nextSeq += 1 }
        return volatile.nextSeq
    }

    func setMeta(_ key: String, _ value: Int64) throws(StoreError) {
        let insert = try database.statement("INSERT OR REPLACE INTO meta(k, v) VALUES(?, ?)")
        insert.bind(1, key)
        insert.bind(2, value)
        try insert.run()
    }

    /// Writes down where the line is and how far the wall clock is from it.
    func keepTimeline() throws(StoreError) {
        try setMeta("line", now)
        try setMeta("skew", volatile.timeline.skew)
        try setMeta("owed", volatile.timeline.owed)
    }

    /// The number of a route, given on first use.
    func route(_ name: String) throws(StoreError) -> Int64 {
        if let latestRoute, latestRoute.name == name { return latestRoute.number }
        if let known = routes[name] {
            latestRoute = (name, known)
            return known
        }
        let insert = try database.statement("INSERT OR IGNORE INTO route(name) VALUES(?)")
        insert.bind(1, name)
        try insert.run()
        let select = try database.statement("SELECT id FROM route WHERE name = ?")
        select.bind(1, name)
        defer { select.reset() }
        guard try select.step() else { throw StoreError(.failed, "cannot name a route in \(database.path)") }
        routes[name] = select.int(0)
        routeNames[select.int(0)] = name
        return select.int(0)
    }
}

extension Statement {
    fileprivate func bind(_ key: StoreWriter.TallyKey) {
        bind(1, key.route)
        bind(2, Int64(key.state.rawValue))
        bind(3, key.minute)
    }
}
