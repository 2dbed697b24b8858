import CSQLite
import CSQLiteFiles
import Glibc
import RelayBase
import RelayPosix

/// One connection; belongs to one thread.
@safe final class Database {
    let path: String
    private let raw: OpaquePointer
    private let watch: UnsafeMutablePointer<Watch>
    private var statements: [String: Statement] = [:]
    private var placed: [UInt: Statement] = [:]
    /// Those of `placed` that were wanted last: each has a place by its address within a page of memory.
    private var latest = [(place: UInt, statement: Statement)?](repeating: nil, count: 256)

    /// The state that SQLite's callbacks see.
    private struct Watch {
        /// Steady nanoseconds at which a statement is interrupted.
        var deadline: Int64 = .max
        /// Pages in the write-ahead log after the last commit.
        var logPages: Int32 = 0
    }

    /// Once, before the first connection; where another part of the process was first, memory goes on being counted.
    private static let isConfigured: Bool = {
        _ = relay_sqlite_forget_memory()
        return relay_sqlite_watch_directories() == SQLITE_OK
    }()

    init(_ path: String, readOnly: Bool) throws(StoreError) {
        guard Self.isConfigured else {
            throw StoreError(
                .failed,
                "cannot open the job store \(path): this SQLite keeps failed syncs to itself"
            )
        }
        self.path = path
        var opened: OpaquePointer?
        let mode = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        let result = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard result == SQLITE_OK, let opened = unsafe opened else {
            let system = unsafe opened.map { unsafe sqlite3_system_errno($0) } ?? 0
            unsafe sqlite3_close_v2(opened)
            throw .sqlite("open", result, system: system, path: path)
        }
        unsafe raw = opened
        unsafe watch = .allocate(capacity: 1)
        unsafe watch.initialize(to: Watch())
        unsafe sqlite3_busy_timeout(opened, 5_000)
        for (option, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
            (SQLITE_DBCONFIG_DQS_DDL, 0), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, readOnly ? 1 : 0),
        ] as [(Int32, Int32)] {
            unsafe _ = relay_sqlite_set(raw, option, value)
        }
    }

    deinit {
        statements = [:]
        placed = [:]
        latest = []
        unsafe sqlite3_close_v2(raw)
        unsafe watch.deallocate()
    }

    func error(_ call: String, _ result: Int32) -> StoreError {
        unsafe .sqlite(call, result, system: sqlite3_system_errno(raw), path: path)
    }

    /// Runs statements that have no parameters and whose rows nobody wants.
    func execute(_ sql: String) throws(StoreError) {
        let result = unsafe sqlite3_exec(raw, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw error("run \(sql.prefix(40))", result) }
    }

    /// The statement for `sql`, prepared once and kept.
    func statement(_ sql: StaticString) throws(StoreError) -> Statement {
        // Where a literal stands tells it from every other, and costs nothing to look at.
        let place = unsafe UInt(bitPattern: sql.utf8Start)
        let slot = Int(place >> 4 & 255)
        if let known = latest[slot], known.place == place { return known.statement }
        let statement: Statement
        if let known = placed[place] {
            statement = known
        } else {
            statement = try self.statement(text: sql.description)
            placed[place] = statement
        }
        latest[slot] = (place, statement)
        return statement
    }

    /// The statement of a text that is put together, under a literal name of its own.
    func statement(named name: StaticString, _ sql: @autoclosure () -> String) throws(StoreError) -> Statement
    {
        let place = unsafe UInt(bitPattern: name.utf8Start)
        if let known = placed[place] { return known }
        let statement = try statement(text: sql())
        placed[place] = statement
        return statement
    }

    func statement(text sql: String) throws(StoreError) -> Statement {
        if let known = statements[sql] { return known }
        var prepared: OpaquePointer?
        let result = unsafe sqlite3_prepare_v3(
            raw,
            sql,
            Int32(sql.utf8.count),
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &prepared,
            nil
        )
        guard result == SQLITE_OK, let prepared = unsafe prepared else {
            throw error("prepare a statement", result)
        }
        let statement = unsafe Statement(prepared, path: path)
        statements[sql] = statement
        return statement
    }

    /// The first column of the first row.
    func number(_ sql: StaticString) throws(StoreError) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int(0) : 0
    }

    /// Gives up the statements run by `body` after a while; what they throw is then `slow`.
    func bounded<Value>(
        _ duration: Duration,
        _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        unsafe watch.pointee.deadline = SystemClock.monotonic() + duration.saturatedNanoseconds
        unsafe sqlite3_progress_handler(
            raw,
            1_000,
            { context in
                guard let watch = unsafe context?.assumingMemoryBound(to: Watch.self) else { return 0 }
                return unsafe SystemClock.monotonic() > watch.pointee.deadline ? 1 : 0
            },
            watch
        )
        defer { unsafe sqlite3_progress_handler(raw, 0, nil, nil) }
        return try body()
    }
}

extension Database {
    /// Lets nothing that was deleted or moved stay in the file, once the log is in it.
    ///
    /// `secure_delete` alone leaves copies of rows in pages that they were moved from.
    func eraseTraces() throws(StoreError) {
        try execute("PRAGMA secure_delete = ON")
        // Such a file has pages whose first byte only looks like the kind of a b-tree's.
        guard try number("PRAGMA auto_vacuum") == 0 else {
            throw Schema.vacuumed(path)
        }
        let result = unsafe relay_sqlite_write_no_gaps(raw)
        guard result == SQLITE_OK else { throw error("take hold of the file", result) }
    }

    /// Reads of this process that the disk has answered, of connections that write.
    static var reads: UInt64 { relay_sqlite_reads() }

    /// Those of them that failed.
    static var failedReads: UInt64 { relay_sqlite_failed_reads() }

    /// Moves what the log holds into the database and leaves none of it in the log; waits a moment for readers.
    ///
    /// - Returns: whether that could be done.
    func emptyLog() throws(StoreError) -> Bool {
        unsafe sqlite3_busy_timeout(raw, 150)
        defer { unsafe sqlite3_busy_timeout(raw, 5_000) }
        let result = unsafe sqlite3_wal_checkpoint_v2(raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if result & 0xFF == SQLITE_BUSY { return false }
        guard result == SQLITE_OK else { throw error("checkpoint", result) }
        unsafe watch.pointee.logPages = 0
        return true
    }

    /// Why the entries of a directory could not be put on disk by this thread since the last call; nil where they were.
    static func takeDirectoryError() -> Errno? {
        let error = relay_sqlite_directory_error()
        return error == 0 ? nil : Errno(rawValue: error)
    }

    /// Rows that the last statement has written.
    var changes: Int32 { unsafe sqlite3_changes(raw) }

    /// Rows that were ever changed through this connection.
    var allChanges: Int64 { unsafe sqlite3_total_changes64(raw) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(raw) == 0 }

    /// Pages in the write-ahead log after the last commit.
    var logPages: Int { unsafe Int(watch.pointee.logPages) }

    /// Takes the log's length after every commit in place of SQLite's own checkpoints.
    func watchLog() {
        unsafe sqlite3_wal_hook(
            raw,
            { context, _, _, pages in
                unsafe context?.assumingMemoryBound(to: Watch.self).pointee.logPages = pages
                return SQLITE_OK
            },
            watch
        )
    }

    /// Moves what the log holds into the database as far as readers allow.
    ///
    /// - Returns: whether all of it was moved, so that the next commit starts the log anew.
    @discardableResult
    func checkpoint(truncate: Bool = false) throws(StoreError) -> Bool {
        var pages: Int32 = 0
        var moved: Int32 = 0
        let mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let result = unsafe sqlite3_wal_checkpoint_v2(raw, nil, mode, &pages, &moved)
        guard result == SQLITE_OK || result & 0xFF == SQLITE_BUSY else { throw error("checkpoint", result) }
        if result == SQLITE_OK, pages == moved { unsafe watch.pointee.logPages = 0 }
        return pages == moved
    }
}
