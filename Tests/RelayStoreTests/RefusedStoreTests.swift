import Glibc
import RelayBase
import RelayJobs
import RelayPosix
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite(
    "A store that somebody has to mend is told from one that another try may open",
    .timeLimit(.minutes(5))
)
struct RefusedStoreTests {
    private static let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)

    /// One way in which a store is not what it was.
    enum Fault: String, CaseIterable, Sendable {
        case newerSchema, otherProgram, otherTables, noDatabase, empty, cutShort, missing, noFile, link,
            logDamaged
        case othersMayWrite, autoVacuum, structure

        var code: StoreError.Code {
            switch self {
            case .newerSchema: .newerSchema
            case .otherProgram, .otherTables, .link, .othersMayWrite, .autoVacuum: .foreign
            case .noDatabase, .empty, .cutShort, .missing, .noFile, .logDamaged, .structure: .corrupt
            }
        }

        var words: String {
            switch self {
            case .newerSchema: "its schema is version 99"
            case .otherProgram, .otherTables: "the database of another program"
            case .noDatabase: "it is no database"
            case .empty, .cutShort: "it has been cut short"
            case .missing: "there is no such file although there was a store"
            case .noFile: "it is no file"
            case .link: "to be no link"
            case .logDamaged: "acknowledged jobs stand behind a damaged part"
            case .othersMayWrite: "run chmod go-w"
            case .autoVacuum: "auto_vacuum"
            case .structure: "its structure is damaged"
            }
        }

        /// Makes it so in the directory.
        func apply(_ directory: String) throws {
            let path = directory + "/jobs.db"
            switch self {
            case .newerSchema: Files.write(path, [0, 0, 0, 99], at: 60)
            case .otherProgram: Files.write(path, [1, 2, 3, 4], at: 68)
            case .otherTables: Files.write(path, [0, 0, 0, 0], at: 68)
            case .noDatabase: Files.write(path, [0, 0, 0, 0])
            case .empty: Files.write(path, [], truncates: true)
            case .cutShort: unsafe _ = truncate(path, off_t(Files.read(path).count - 4_096))
            case .missing: unsafe _ = unlink(path)
            case .noFile:
                unsafe _ = unlink(path)
                unsafe _ = mkfifo(path, 0o600)
            case .link:
                unsafe _ = rename(path, directory + "/elsewhere")
                unsafe _ = symlink("elsewhere", path)
            case .logDamaged: Files.write(directory + "/jobs.db-wal", [UInt8](repeating: 7, count: 9_000))
            case .othersMayWrite: unsafe _ = chmod(directory, 0o770)
            case .autoVacuum:
                let database = try Database(path, readOnly: false)
                try database.execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = FULL; VACUUM")
            case .structure: Files.write(path, [0xFF, 0xFF], at: try RefusedStoreTests.root("id", path))
            }
        }
    }

    /// Where the page begins from which a table or an index grows.
    fileprivate static func root(_ name: String, _ path: String) throws -> off_t {
        let database = try Database(path, readOnly: true)
        let select = try database.statement(text: "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        defer { select.reset() }
        try #require(try select.step())
        return off_t((select.int(0) - 1) * 4_096)
    }

    private static func open(_ path: String) async throws(StoreError) -> SQLiteJobStore {
        var options = StoreOptions(directory: path)
        options.ballast = 0
        options.readTimeout = .seconds(60)
        return try await SQLiteJobStore.open(options, at: now)
    }

    private static func refusal(_ path: String) async -> StoreError? {
        do throws(StoreError) {
            await (try await open(path)).close()
            return nil
        } catch { return error }
    }

    private static func fill(_ path: String, bodies: Int, of size: Int) async throws {
        let store = try await open(path)
        for number in 1...UInt64(bodies) {
            let id = JobID(milliseconds: now.wall, random: (0, number))
            let record = JobRecord(id: id, route: "r", method: .post, target: "t")
            let body = StoredBody.bytes([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size))
            _ = try await store.enqueue([NewJob(record, body: body)], at: now)
        }
        await store.close()
    }

    @Test("Each is refused with its own sentence every time, and left as it is", arguments: Fault.allCases)
    func refused(fault: Fault) async throws {
        let scratch = TemporaryFolder()
        defer { unsafe _ = chmod(scratch.path, 0o700) }
        try await Self.fill(scratch.path, bodies: 20, of: 500)
        #expect(await Self.refusal(scratch.path) == nil)
        try fault.apply(scratch.path)
        let before = fault == .noFile ? [] : Files.read(scratch.path + "/jobs.db")
        for _ in 0..<2 {
            let error = try #require(await Self.refusal(scratch.path))
            #expect(error.code == fault.code && error.needsMending, "\(error)")
            #expect(error.message.contains(fault.words), "\(error)")
            #expect(error.message.contains(scratch.path), "\(error)")
        }
        let isUntouched = fault == .noFile || Files.read(scratch.path + "/jobs.db") == before
        #expect(isUntouched)
    }

    @Test("A refusal that may pass needs no mending: another process has the store, or there is no directory")
    func passing() async throws {
        let scratch = TemporaryFolder()
        let store = try await Self.open(scratch.path)
        let locked = try #require(await Self.refusal(scratch.path))
        #expect(locked.code == .locked && !locked.needsMending)
        await store.close()
        let missing = try #require(await Self.refusal(scratch.path + "/none"))
        #expect(missing.code == .directory && !missing.needsMending)
        for errno in [EIO, EMFILE, ENOMEM, ENOENT, EROFS] {
            let error = StoreError.directory(PosixError("read", Errno(rawValue: errno), path: "x"))
            #expect(error.code == .directory && !error.needsMending)
        }
    }

    @Test("A store that was closed can be opened again while a program that is being started has its files")
    func inherited() async throws {
        let scratch = TemporaryFolder()
        let store = try await Self.open(scratch.path)
        // Between fork and exec a child has all descriptors.
        let copies = Files.descriptors(of: scratch.path + "/lock").map { dup($0) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        await store.close()
        #expect(await Self.refusal(scratch.path) == nil)
    }

    @Test("A large store that was cut short is refused at once")
    func largeCutShort() async throws {
        let scratch = TemporaryFolder()
        try await Self.fill(scratch.path, bodies: 200, of: 200_000)
        let path = scratch.path + "/jobs.db"
        let size = Files.read(path).count
        #expect(size > 32 << 20)
        unsafe _ = truncate(path, off_t(size / 2))
        #expect(try #require(await Self.refusal(scratch.path)).message.contains("cut short"))
    }

    @Test(
        "Damage that a run meets in the structure of a large store has the next start look through it and refuse it"
    )
    func largeSuspect() async throws {
        let scratch = TemporaryFolder()
        try await Self.fill(scratch.path, bodies: 200, of: 200_000)
        let path = scratch.path + "/jobs.db"
        #expect(Files.read(path).count > 32 << 20)
        Files.write(path, [0xFF, 0xFF], at: try Self.root("tally", path))
        let store = try await Self.open(scratch.path)
        await #expect(throws: StoreError.self) { try await store.counters(at: Self.now, withDue: true) }
        await store.close()
        for _ in 0..<2 {
            let error = try #require(await Self.refusal(scratch.path))
            #expect(error.code == .corrupt && error.needsMending && error.message.contains("its structure"))
        }
    }
}
