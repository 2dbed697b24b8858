import Glibc
import RelayBase
import RelayJobs
import RelayPosix

/// From a directory to a writer: takes the store over from the process before.
extension StoreWriter {
    /// Makes the database of a new store: whole and on disk before it gets its name.
    ///
    /// SQLite would make it through a rollback journal, and keeps to itself that a directory could not be synced.
    static func create(_ directory: StoreDirectory) throws(StoreError) {
        let path = directory.database + ".new"
        removeFile(path)
        // SQLite would let everyone read it who may enter the directory; its other files take their mode from it.
        let made = openFile(path, O_RDWR | O_CREAT | O_EXCL)
        guard made >= 0 else { throw .directory(PosixError("open", .current, path: path)) }
        defer { close(made) }
        do {
            let database = try Database(path, readOnly: false)
            // Settings for which a build of SQLite may have other defaults.
            try database.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE")
            try database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try Schema.migrate(database)
        }
        do throws(PosixError) {
            // https://www.sqlite.org/fileformat2.html#file_format_version_numbers: written and read with a log.
            try checked("write", unsafe pwrite(made, [2, 2] as [UInt8], 2, 18) == 2 ? 0 : -1, path)
            try checked("fsync", fsync(made), path)
            try checked("rename", unsafe rename(path, directory.database), path)
            try StoreDirectory.sync(directory.path)
        } catch { throw .directory(error) }
    }

    static func connect(_ path: String, _ options: StoreOptions) throws(StoreError) -> Database {
        let database = try Database(path, readOnly: false)
        try database.execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")
        let mode = try database.statement(text: "PRAGMA journal_mode = WAL")
        guard try mode.step(), mode.text(0) == "wal" else {
            throw StoreError(
                .failed,
                "cannot open the job store \(path): its file system has no shared memory for WAL"
            )
        }
        mode.reset()
        try database.execute(
            """
            PRAGMA synchronous = \(options.sync.rawValue); PRAGMA journal_size_limit = 67108864;
            PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 0
            """
        )
        try database.eraseTraces()
        database.watchLog()
        return database
    }

    private static func trimLog(_ path: String) throws(StoreError) {
        do throws(PosixError) {
            try LogCheck.trim(path)
        } catch { throw .directory(error) }
    }

    /// Begins the log anew; where the database has no room for what is in it the log goes on.
    private static func beginLog(_ database: Database) throws(StoreError) {
        do throws(StoreError) {
            try database.checkpoint(truncate: true)
        } catch {
            guard error.code == .full else { throw error }
        }
    }

    /// A database up to this size is looked through at every start.
    private static let smallDatabase = 32 << 20

    /// Looks for structural damage, where that is quick or there was a sign of it.
    ///
    /// SQLite cannot be stopped in the middle of it, so a large database is checked only after a run that has met
    /// damage; the checksum of each record is checked whenever it is read.
    static func checkIntegrity(_ database: Database, _ directory: StoreDirectory) throws(StoreError) {
        let size = try database.number("PRAGMA page_count") * 4_096
        guard size <= smallDatabase || directory.isSuspect else { return }
        let failedBefore = Database.failedReads
        let check = try database.statement(text: "PRAGMA integrity_check(1)")
        defer { check.reset() }
        guard try check.step(), let text = check.text(0), text != "ok" else {
            directory.clearSuspicion()
            return
        }
        // The check takes what it cannot read for damage.
        guard Database.failedReads == failedBefore else {
            throw StoreError(
                .failed,
                "cannot look through the job store \(database.path): its disk failed a read, of which the kernel's log "
                    + "tells more (journalctl -k); it is tried again"
            )
        }
        // Its first line says in which database.
        let fault = text.split(separator: "\n").last ?? ""
        throw damaged(database.path, "its structure is damaged (\(fault.prefix(80)))")
    }

    /// Takes over: a new epoch, and the jobs that were in flight at the end of the last one; where it `isFull`, notices of
    /// those that end with it are owed.
    static func open(
        _ directory: StoreDirectory,
        _ options: StoreOptions,
        at moment: JobMoment,
        isFull: Bool = false
    ) throws(StoreError) -> StoreWriter {
        if try !inspect(directory) { try create(directory) }
        // Bytes that an interrupted write has left behind the log's end must not be taken for commits (`LogCheck`).
        try trimLog(directory.log)
        let database = try connect(directory.database, options)
        if directory.wasUsed { try checkIntegrity(database, directory) }
        if directory.wasUsed { try beginLog(database) }
        try Schema.migrate(database)
        try directory.markMade()

        func meta(_ key: String) throws(StoreError) -> Int64? {
            let select = try database.statement("SELECT v FROM meta WHERE k = ?")
            select.bind(1, key)
            defer { select.reset() }
            return try select.step() ? select.int(0) : nil
        }
        var timeline = StoreClock(at: moment)
        var hasStepped = false
        if let line = try meta("line"), let skew = try meta("skew") {
            timeline = StoreClock(line: line, skew: skew, owed: try meta("owed") ?? 0, at: moment)
            hasStepped = abs(timeline.skew - skew) >= StoreClock.stepMilliseconds
        }
        let epoch = (try meta("epoch") ?? 0) + 1
        var random = SystemRandomNumberGenerator()
        let key = (
            UInt64(bitPattern: try meta("key0") ?? Int64(bitPattern: random.next())),
            UInt64(bitPattern: try meta("key1") ?? Int64(bitPattern: random.next()))
        )
        var keys = IdempotencyKeys(hash: KeyedHash(key: key))
        try keys.load(database)
        var tails = OrderingTails(limit: options.orderingKeysInMemory, known: try meta("keyed") ?? 0)
        try tails.load(database)
        let first = try meta("seq") ?? 1
        var volatile = Volatile(
            timeline: timeline,
            nextSeq: first,
            seqLimit: first,
            nextToken: UInt64(epoch) << 40 | 1,
            nextScheduled: .min
        )
        let rest = try meta("redate") ?? Self.redated
        volatile.redateFrom = hasStepped ? 0 : rest == Self.redated ? nil : rest
        volatile.hasUnturned = try meta("unturned") != nil
        let openNotices = Int(try meta("notices") ?? 0)
        volatile.openNotices = (openNotices, openNotices)
        volatile.owed = Int(try database.number("SELECT count(*) FROM owed"))
        volatile.fileBytes = try database.number("SELECT coalesce(sum(length), 0) FROM file")
        let writer = StoreWriter(
            database: database,
            files: BodyFiles(directory: directory.bodies, epoch: epoch),
            options: options,
            shared: StoreShared(
                timeline: timeline,
                maxBytes: options.maxSize,
                notice: options.events.notice,
                suspect: { [path = directory.path] in StoreDirectory.suspect(path) }
            ),
            epoch: epoch,
            keys: keys,
            tails: tails,
            volatile: volatile
        )
        writer.isFull = isFull
        try writer.takeOver(key)
        // With its first write SQLite has put the log's entry on disk, and does not tell if it could not.
        if let error = Database.takeDirectoryError() {
            throw .directory(PosixError("fsync", error, path: directory.path))
        }
        do throws(PosixError) {
            writer.standing = [try FileIdentity(directory.database), try FileIdentity(directory.log)]
        } catch { throw .directory(error) }
        return writer
    }

    private func takeOver(_ key: (UInt64, UInt64)) throws(StoreError) {
        try loadRoutes()
        try database.execute("BEGIN IMMEDIATE")
        try setMeta("epoch", epoch)
        try keepTimeline()
        try setMeta("key0", Int64(bitPattern: key.0))
        try setMeta("key1", Int64(bitPattern: key.1))
        let running = try database.statement(
            """
            SELECT seq FROM job INDEXED BY job_lane WHERE route IN (SELECT id FROM route) AND lane = 9 ORDER BY seq
            """
        )
        for seq in (try running.numbers() + takeOverPlain()).sorted() { try recover(seq) }
        // Of what they told there is a record with each job now.
        try database.execute("DELETE FROM claimed")
        if volatile.redateFrom != nil { try wake() }
        try flushTally()
        try database.execute("COMMIT")
    }

    /// Puts on record that a job was in flight when the process before ended.
    private func recover(_ seq: Int64) throws(StoreError) {
        let now = now
        guard var old = try intact(seq) else { return }
        if options.fault == .decidesAgain, old.isPlain { old.decideAgain(now: now) }
        guard let row = try change(old, { $0.recover(now: now) }) else { return }
        if let begun = old.machine.begun {
            let count = old.machine.attempts
            try put(
                [Attempt(interrupted: begun, number: Int(count) + 1)],
                after: count,
                of: seq,
                with: nil
            )
        }
        try wakeSuccessors(of: row)
        if row.machine.state.isTerminal { tell(row) }
    }

    func loadRoutes() throws(StoreError) {
        routes = [:]
        routeNames = [:]
        let select = try database.statement("SELECT id, name FROM route")
        defer { select.reset() }
        while try select.step() {
            guard let name = select.text(1) else { continue }
            routes[name] = select.int(0)
            routeNames[select.int(0)] = name
        }
    }
}
