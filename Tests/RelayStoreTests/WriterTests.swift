import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("The writer holds in memory what is on disk", .timeLimit(.minutes(5)))
struct WriterTests {
    private let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)

    private func options(_ scratch: TemporaryFolder) -> StoreOptions {
        var options = StoreOptions(directory: scratch.path)
        options.ballast = 0
        return options
    }

    private func job(_ number: UInt64) -> NewJob {
        let id = JobID(milliseconds: now.wall, random: (0, number))
        return NewJob(JobRecord(id: id, route: "r", method: .put, target: "t"), body: .bytes([1]))
    }

    @Test("A claim is on disk with its attempt when it is told, also of a job that may be repeated")
    func claims() async throws {
        let scratch = TemporaryFolder()
        let store = try await SQLiteJobStore.open(options(scratch), at: now)
        _ = try await store.enqueue((1...60).map { job($0) }, at: now)
        for _ in 1...60 {
            let claims = try await store.claim("r", limit: 1, upstream: "eu", at: now).claims
            let id = try #require(claims.first?.token.id)
            let stored = try await store.job(id)
            #expect(stored?.state == .running)
            #expect(stored?.begun == BegunAttempt(upstream: "eu", beganAt: now.wall))
        }
        await store.close()
    }

    @Test("A dry run takes no turn of the writer's")
    func dryRuns() async throws {
        let scratch = TemporaryFolder()
        let store = try await SQLiteJobStore.open(options(scratch), at: now)
        _ = try await store.enqueue((1...20).map { job($0) }, at: now)
        let before = try await store.facts().commits
        for _ in 1...50 {
            let report = try await store.apply(
                .cancel,
                to: JobFilter(),
                limit: 8,
                dryRun: true,
                at: now
            )
            #expect(report.matched == 8 && report.changed == 0 && report.next != nil)
        }
        #expect(try await store.facts().commits <= before + 2)
        await store.close()
    }

    @Test("A sweep that is rolled back and repeated drops the bodies it would have dropped")
    func repeatedSweep() async throws {
        let scratch = TemporaryFolder()
        let store = try await SQLiteJobStore.open(options(scratch), at: now)
        _ = try await store.enqueue([job(1)], at: now)
        let claims = try await store.claim("r", limit: 1, at: now).claims
        let answers = try await store.settle(claims.map { Settlement($0.token, .succeeded) }, at: now)
        #expect(answers == [.applied(.succeeded)])
        await store.close()

        let now = now
        let writer = try StoreWriter.open(StoreDirectory(scratch.path), options(scratch), at: now)
        let queue = CommitQueue()
        let log = Notes<Int>()
        var retention = Retention()
        retention.bodies = .zero
        let swept = retention
        queue.submit(
            CommitQueue.Task(
                kind: .other,
                weight: 1,
                run: { writer throws(StoreError) in
                    let report = try writer.sweep(swept, limit: 10, at: now)
                    return { log.add([report.expunged]) }
                },
                fail: { Issue.record("\($0)") }
            )
        )
        queue.submit(
            CommitQueue.Task(
                kind: .other,
                weight: 1,
                run: { _ throws(StoreError) in throw StoreError(.corrupt, "a damaged page") },
                fail: { _ in }
            )
        )
        queue.close()
        GroupCommit(
            writer,
            queue: queue,
            ballast: ReserveFile(path: scratch.path + "/ballast", limit: 0),
            removeFiles: { _ in }
        ).run()
        #expect(log.values == [1])
    }

    /// A run of idempotency keys on disk.
    private struct KeyBench {
        let scratch = TemporaryFolder()
        let database: Database
        var keys = IdempotencyKeys(hash: KeyedHash(key: (1, 2)))

        init() throws(StoreError) {
            database = try Database(scratch.path + "/keys.db", readOnly: false)
            try Schema.migrate(database)
            try database.execute("BEGIN")
            for number in 0..<IdempotencyKeys.runSize { _ = try accept(number, id(number)) }
            while keys.wantsStep { try keys.step(in: database) }
            try database.execute("COMMIT")
            keys.commit()
        }

        func id(_ number: Int) -> JobID { JobID(milliseconds: 1, random: (0, UInt64(number))) }

        mutating func accept(_ number: Int, _ id: JobID) throws(StoreError) -> EnqueueResult? {
            let idempotency = NewJob.Idempotency(
                user: 0,
                key: "\(number)",
                fingerprint: [],
                window: .seconds(1)
            )
            let record = JobRecord(id: id, route: "a", method: .post, target: "")
            return try keys.accept(idempotency, record, now: 0, latest: 0, in: database)
        }
    }

    @Test("Idempotency keys whose removal is rolled back are known")
    func rolledBackKeys() throws {
        var bench = try KeyBench()
        try bench.database.execute("BEGIN")
        while try bench.keys.sweep(now: 1_000, limit: 100_000, in: bench.database) {}
        try bench.database.execute("ROLLBACK")
        bench.keys.rollBack()
        #expect(try bench.accept(5, bench.id(99_999)) == .duplicate(bench.id(5)))
    }

    @Test(
        "A key of a run is known though the row of the run is damaged",
        arguments: [
            "SET filter = zeroblob(length(filter))", "SET filter = substr(filter, 1, 9000)",
            "SET filter = x''", "SET until = -5", "SET run = run",
        ]
    )
    func damagedRun(damage: String) throws {
        var bench = try KeyBench()
        try bench.database.execute("UPDATE idemrun \(damage)")
        bench.keys = IdempotencyKeys(hash: KeyedHash(key: (1, 2)))
        try bench.keys.load(bench.database)
        for number in [0, 5, 77, 20_000, IdempotencyKeys.runSize - 1] {
            #expect(try bench.accept(number, bench.id(99_999)) == .duplicate(bench.id(number)))
        }
        #expect(try bench.accept(99_999, bench.id(99_999)) == nil)
    }
}

@Suite("The tasks that wait for the writer")
struct CommitQueueTests {
    @Test("Claims go first, and all else stays in its order")
    func order() throws {
        let queue = CommitQueue()
        for (weight, kind) in [CommitQueue.Kind.accept, .claim, .other, .claim, .accept].enumerated() {
            queue.submit(CommitQueue.Task(kind: kind, weight: weight, run: { _ in {} }, fail: { _ in }))
        }
        let tasks = try #require(queue.take(waits: false))
        #expect(tasks.map(\.weight) == [1, 3, 0, 2, 4])
    }
}
