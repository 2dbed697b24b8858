import Glibc
import RelayBase
import RelayJobs
import RelayStore
import RelayTestSupport
import Synchronization
import Testing

@Suite("The SQLite store minds its directory", .timeLimit(.minutes(5)))
struct SQLiteTests {
    private let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)

    private func open(
        _ path: String,
        _ change: (inout StoreOptions) -> Void = { _ in }
    ) async throws(StoreError)
        -> SQLiteJobStore
    {
        var options = StoreOptions(directory: path)
        options.ballast = 1 << 20
        change(&options)
        return try await SQLiteJobStore.open(options, at: now)
    }

    private func code(_ path: String) async -> StoreError? {
        do throws(StoreError) {
            await (try await open(path)).close()
            return nil
        } catch { return error }
    }

    private func job(_ number: UInt64, body: [UInt8] = [1]) -> NewJob {
        let id = JobID(milliseconds: now.wall, random: (0, number))
        return NewJob(JobRecord(id: id, route: "r", method: .post, target: "t"), body: .bytes(body))
    }

    @Test("A second process is refused and told who has the store")
    func secondInstance() async throws {
        let scratch = TemporaryFolder()
        let store = try await open(scratch.path)
        let error = try #require(await code(scratch.path))
        #expect(error.code == .locked && error.message.contains("process \(getpid()) has it open"))
        await store.close()
        #expect(await code(scratch.path) == nil)
    }

    @Test(
        "A directory that others may write in, or that is none, is refused",
        arguments: [0o770, 0o707] as [mode_t]
    )
    func directory(mode: mode_t) async throws {
        let scratch = TemporaryFolder()
        unsafe _ = chmod(scratch.path, mode)
        #expect(await code(scratch.path)?.code == .foreign)
        #expect(TemporaryFolder.names(scratch.path).isEmpty)
        #expect(await code(scratch.path + "/none")?.code == .directory)
    }

    @Test("A newer schema, another program's database and no database are refused and left as they are")
    func foreign() async throws {
        for (offset, bytes, code) in [
            (60, [0, 0, 0, 99], .newerSchema), (68, [1, 2, 3, 4], .foreign), (0, [0, 0, 0, 0], .corrupt),
        ] as [(off_t, [UInt8], StoreError.Code)] {
            let scratch = TemporaryFolder()
            let store = try await open(scratch.path)
            _ = try await store.enqueue([job(1)], at: now)
            await store.close()
            let path = scratch.path + "/jobs.db"
            Files.write(path, bytes, at: offset)
            let before = Files.read(path)
            #expect(await self.code(scratch.path)?.code == code)
            #expect(Files.read(path) == before)
        }
    }

    @Test("A process that opens a store no longer dies of the signal for files that are too large")
    func fileSizeSignal() async throws {
        _ = signal(SIGXFSZ, SIG_DFL)
        let scratch = TemporaryFolder()
        let store = try await open(scratch.path)
        let found = signal(SIGXFSZ, SIG_IGN)
        // SIG_IGN (signal.h), which cannot be compared in Swift.
        #expect(unsafe unsafeBitCast(found, to: Int.self) == 1)
        await store.close()
    }

    @Test("Nobody else may read the store, whatever the directory lets in")
    func modes() async throws {
        let scratch = TemporaryFolder()
        unsafe _ = chmod(scratch.path, 0o755)
        let store = try await open(scratch.path)
        _ = try await store.enqueue([job(1), job(2, body: Array(repeating: 1, count: 2 << 20))], at: now)
        for folder in ["", "/bodies/"] {
            for name in TemporaryFolder.names(scratch.path + folder) where name != "bodies" {
                var status = stat()
                #expect(unsafe lstat(scratch.path + "/" + folder + name, &status) == 0)
                #expect(status.st_mode & 0o077 == 0, "\(name)")
            }
        }
        await store.close()
    }

    @Test(
        "A database that has been cut short or emptied or is gone is refused, not made anew",
        arguments: [0, 50, 4_096, -1] as [off_t]
    )
    func truncated(length: off_t) async throws {
        let scratch = TemporaryFolder()
        let store = try await open(scratch.path)
        _ = try await store.enqueue((1...50).map { job($0) }, at: now)
        await store.close()
        let path = scratch.path + "/jobs.db"
        unsafe _ = length < 0 ? unlink(path) : truncate(path, length)
        #expect(await code(scratch.path)?.code == .corrupt)
    }

    @Test("Calls that wait while a commit runs go into the next: far fewer commits than calls")
    func groupCommit() async throws {
        let scratch = TemporaryFolder()
        let store = try await open(scratch.path)
        let before = try await store.facts().commits
        let now = now
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for number in 1...500 as ClosedRange<UInt64> {
                let job = job(number)
                group.addTask { (try? await store.enqueue([job], at: now)) == [.accepted] }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 500)
        _ = try await store.sweep(Retention(), limit: 1, at: now)
        #expect(try await store.facts().commits - before < 250)
        await store.close()
    }

    @Test("Large bodies live in files, come back exactly and go with their job")
    func files() async throws {
        let scratch = TemporaryFolder()
        let large = (0..<(3 << 20) + 7).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var store = try await open(scratch.path)
        let spool = try await store.spool()
        for start in stride(from: 0, to: large.count, by: 100_000) {
            try await spool.append(Array(large[start..<min(start + 100_000, large.count)]))
        }
        var spooled = job(2)
        spooled.body = .file(try await spool.finish())
        let orphan = try await store.spool()
        try await orphan.append(large)
        _ = try await orphan.finish()
        _ = try await store.enqueue([job(1, body: large), spooled], at: now)
        #expect(TemporaryFolder.names(scratch.path + "/bodies").count == 3)
        await store.close()

        // A body that no job has is gone after the next start.
        store = try await open(scratch.path)
        let claims = try await store.claim("r", limit: 5, at: now).claims
        #expect(claims.count == 2)
        for claim in claims { #expect(try await claim.body.body(from: store)?.collect(limit: .max) == large) }
        let used = try await store.facts().usedBytes
        #expect(used > 6 << 20)
        let answer = StoredAnswer(status: 200, fields: HeaderFields(), body: .bytes(large))
        _ = try await store.settle([Settlement(claims[0].token, .succeeded, answer: answer)], at: now)
        #expect(
            try await store.answer(of: claims[0].token.id)?.body.body(from: store)?.collect(limit: .max)
                == large
        )
        await store.close()
        store = try await open(scratch.path)
        _ = try await store.claim("r", limit: 5, at: now)
        for claim in claims {
            _ = try await store.apply(
                .cancel,
                to: JobFilter(ids: [claim.token.id]),
                limit: 1,
                at: now
            )
        }
        await store.close()
        store = try await open(scratch.path)
        _ = try await store.apply(
            .drop,
            to: JobFilter(),
            limit: 10,
            at: now
        )
        await store.close()
        store = try await open(scratch.path)
        await store.close()
        #expect(TemporaryFolder.names(scratch.path + "/bodies").isEmpty)
    }

    @Test("A large body that has changed on disk is an error, never other bytes")
    func damagedFile() async throws {
        let scratch = TemporaryFolder()
        let store = try await open(scratch.path)
        _ = try await store.enqueue([job(1, body: Array(repeating: 5, count: 2 << 20 | 9))], at: now)
        let name = try #require(TemporaryFolder.names(scratch.path + "/bodies").first)
        Files.write(scratch.path + "/bodies/" + name, [6], at: 1 << 20 | 77)
        let body = try #require(await store.claim("r", limit: 1, at: now).claims.first?.body)
        await #expect(throws: StoreError.self) { try await body.check(in: store) }
        await store.close()
    }

    @Test(
        "At its size limit a store refuses jobs and settles those it has; when they are gone it accepts again",
        arguments: [2_100_000, 2_250_000, 2_400_000] as [UInt64]
    )
    func sizeLimit(limit: UInt64) async throws {
        let scratch = TemporaryFolder()
        let store = try await open(scratch.path) { $0.maxSize = limit }
        var number: UInt64 = 0
        var refusal: StoreError?
        while refusal == nil, number < 1_000 {
            number += 1
            do throws(StoreError) {
                _ = try await store.enqueue([job(number, body: Array(repeating: 1, count: 20_000))], at: now)
            } catch { refusal = error }
        }
        #expect(refusal?.code == .full && (50..<200).contains(number))
        #expect(try await store.facts().isFull)
        // No more than the last job lies beyond it.
        #expect(try await (limit..<limit + 65_536).contains(store.facts().usedBytes))
        while case let claims = try await store.claim("r", limit: 50, at: now).claims,
            !claims.isEmpty
        {
            let answers = try await store.settle(claims.map { Settlement($0.token, .succeeded) }, at: now)
            #expect(answers.allSatisfy { $0 == .applied(.succeeded) })
        }
        var retention = Retention()
        retention.succeeded = .zero
        while try await store.sweep(retention, limit: 100, at: now).hasMore {}
        #expect(try await store.enqueue([job(5_000)], at: now) == [.accepted])
        await store.close()
    }

    @Test("Many idempotency keys become sorted runs, are found there, over a restart too, and go as a whole")
    func runs() async throws {
        let scratch = TemporaryFolder()
        var store = try await open(scratch.path)
        func keyed(_ number: UInt64) -> NewJob {
            var job = job(number)
            job.idempotency = NewJob.Idempotency(
                user: 0,
                key: "k\(number % 1_000_000)",
                fingerprint: [],
                window: .seconds(60)
            )
            return job
        }
        for start in stride(from: 1, to: 70_000, by: 1_000) as StrideTo<UInt64> {
            _ = try await store.enqueue((start..<start + 1_000).map(keyed), at: now)
        }
        for round in 0..<2 {
            let again = try await store.enqueue(
                [keyed(1_000_001), keyed(1_040_000), keyed(1_069_000), keyed(1_080_000 + UInt64(round))],
                at: now
            )
            #expect(
                again.map { if case .duplicate = $0 { true } else { false } } == [true, true, true, false]
            )
            await store.close()
            store = try await open(scratch.path)
        }
        var later = now
        later.steady += 60_000
        later.wall += 60_000
        while try await store.sweep(Retention(), limit: 500, at: later).hasMore {}
        #expect(try await store.enqueue([keyed(2_000_001)], at: later) == [.accepted])
        await store.close()
    }
}

/// Bytes of files, without ceremony.
enum Files {
    /// This process's descriptors of a file.
    static func descriptors(of path: String) -> [Int32] {
        var wanted = stat()
        guard unsafe stat(path, &wanted) == 0 else { return [] }
        return TemporaryFolder.names("/proc/self/fd").compactMap { Int32($0) }.filter { descriptor in
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { return false }
            return status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino
        }
    }

    static func read(_ path: String) -> [UInt8] {
        let descriptor = unsafe Glibc.open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        return count == bytes.count ? bytes : []
    }

    static func write(_ path: String, _ bytes: [UInt8], at offset: off_t = 0, truncates: Bool = false) {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | (truncates ? O_TRUNC : 0), 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        unsafe _ = pwrite(descriptor, bytes, bytes.count, offset)
    }
}
