import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("A reply that is lost is found out", .timeLimit(.minutes(3)))
struct LostReplyTests {
    /// A node that gives a statement up after half a second, and whose server does not see that it has.
    private static func open(
        _ nodes: Nodes,
        doubt: Duration = .seconds(30)
    ) async throws -> PostgreSQLJobStore {
        try await nodes.open("one") {
            $0.statementTimeout = .milliseconds(500)
            $0.database.limits.connectionCheck = .seconds(100)
            $0.doubtTimeout = doubt
        }
    }

    private static let key = NewJob.Idempotency(user: 1, key: "k", fingerprint: [1], window: .seconds(600))

    @Test(
        "An acceptance stopped inside its COMMIT and let go on is told as what it came to",
        arguments: [true, false]
    )
    func commit(goesOn: Bool) async throws {
        let nodes = try await Nodes()
        let store = try await Self.open(nodes)
        let halt = try await Halt(nodes, "job_0", when: "NEW.state < 100", inCommit: true)
        let job = NewJob.ofFleet()
        async let answer = store.answer(job)
        let process = try await halt.reached()
        nodes.server.pause(process, true)
        // The look-up waits behind it.
        try await until { try await nodes.sql(Self.waiting) != 0 }
        if !goesOn { try await nodes.sql("SELECT pg_terminate_backend(\(process))::int") }
        nodes.server.pause(process, false)
        while !goesOn,
            try await nodes.sql("SELECT count(*) FROM pg_stat_activity WHERE pid = \(process)") != 0
        {}
        try await halt.letGo()
        let told = await answer
        let state = try await store.job(job.id)?.state
        switch told {
        case .success(let result): #expect(goesOn && result.isAccepted && state == .queued)
        case .failure(let error): #expect(!goesOn && error.code == .unavailable && state == nil)
        }
        await store.close()
    }

    /// How many sessions wait for another one's transaction.
    private static let waiting = """
        SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waystation' AND wait_event = 'transactionid'
        AND query LIKE '%SCHEMA%'
        """

    @Test(
        "The key of an acceptance that comes too late stands for no job, and blocks none",
        arguments: ["key", "job_0"]
    )
    func key(place: String) async throws {
        let nodes = try await Nodes()
        let store = try await Self.open(nodes)
        let condition = place == "key" ? "NEW.until > 0" : "NEW.state < 100"
        let halt = try await Halt(nodes, place, when: condition, inCommit: false)
        let first = NewJob.ofFleet { $0.idempotency = Self.key }
        async let answer = store.answer(first)
        let process = try await halt.reached()
        // Until the look-up is over, or waits for it.
        while try await nodes.sql(Self.waiting) == 0,
            try await nodes.sql("SELECT count(*) FROM SCHEMA.job WHERE state = 100") == 0
        {}
        try await halt.letGo()
        try await until {
            try await nodes.sql("SELECT count(*) FROM pg_stat_activity WHERE pid = \(process)") == 0
        }
        let told = await answer
        let second = await store.answer(NewJob.ofFleet { $0.idempotency = Self.key })
        switch told {
        case .success(let result):
            #expect(result.isAccepted && second == .success(.duplicate(first.id)))
            #expect(try await store.job(first.id) != nil)
        case .failure(let error):
            #expect(error.code == .unavailable && second == .success(.accepted))
            #expect(try await store.job(first.id) == nil)
        }
        await store.close()
    }

    @Test("A settlement, an action and a pause whose reply is lost are asked again, and are done once")
    func others() async throws {
        let nodes = try await Nodes()
        let store = try await Self.open(nodes)
        let jobs = [NewJob.ofFleet(), NewJob.ofFleet { $0.record.orderingKey = "o" }]
        for job in jobs { #expect(await store.answer(job) == .success(.accepted)) }
        let claims = [try await store.nextClaim(), try await store.nextClaim()]
        for claim in claims {
            let halt = try await Halt(nodes, "change_0", when: "NEW.upstream IS NULL", inCommit: true)
            async let answer = store.settle(
                [Settlement(claim.token, .retry(after: .seconds(600), .backoff))],
                at: .present
            )
            _ = try await halt.reached()
            try await until {
                if try await nodes.sql(Self.waiting) != 0 { return true }
                return try await nodes.sql(Self.locked) != 0
            }
            try await halt.letGo()
            #expect(try await answer == [.applied(.retrying)])
            try await nodes.sql("DROP TRIGGER halt ON SCHEMA.change_0")
        }
        for job in jobs {
            let halt = try await Halt(nodes, "change_0", when: "NEW.action IS NOT NULL", inCommit: true)
            async let report = store.apply(.cancel, to: job.id)
            _ = try await halt.reached()
            try await until {
                if try await nodes.sql(Self.waiting) != 0 { return true }
                return try await nodes.sql(Self.locked) != 0
            }
            try await halt.letGo()
            #expect(try await report.changed == 1)
            #expect(try await store.job(job.id)?.state == .cancelled)
            try await nodes.sql("DROP TRIGGER halt ON SCHEMA.change_0")
        }
        let halt = try await Halt(nodes, "pause", when: "true", inCommit: true)
        let pause = RoutePause(reason: "test", began: 1)
        async let paused: Void = store.pause("hooks", pause, at: .present)
        _ = try await halt.reached()
        try await until { try await nodes.sql(Self.waiting) != 0 }
        try await halt.letGo()
        try await paused
        #expect(try await store.pauses().keys.sorted() == ["hooks"])
        await store.close()
    }

    /// How many sessions wait for a key that another one has locked.
    private static let locked = """
        SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waystation' AND wait_event = 'advisory'
        AND query LIKE '%hashtextextended%'
        """

    @Test("A write of which nobody finds out is told as not known, and found when it is asked for again")
    func unknown() async throws {
        let nodes = try await Nodes()
        let store = try await Self.open(nodes, doubt: .milliseconds(600))
        #expect(await store.answer(.ofFleet()) == .success(.accepted))
        let claim = try await store.nextClaim()
        let halt = try await Halt(nodes, "change_0", when: "NEW.upstream IS NULL", inCommit: true)
        let settlement = Settlement(claim.token, .succeeded)
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.settle([settlement], at: .present)
        }
        #expect(error?.code == .unknown)
        try await halt.letGo()
        var answer: Settlement.Answer?
        while answer == nil { answer = try? await store.settle([settlement], at: .present)[0] }
        #expect(answer == .applied(.succeeded))
        #expect(try await store.settle([settlement], at: .present) == [.stale])
        await store.close()
    }

    @Test("A COMMIT with the warning that a standby was given up is told as not known")
    func warned() async throws {
        let server = try await Nodes(.make())
        let store = try await server.open("one")
        #expect(await store.answer(.ofFleet()) == .success(.accepted))
        try await offPool { try server.server.waitForStandby() }
        let job = NewJob.ofFleet()
        async let answer = store.answer(job)
        let stuck = """
            SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
            AND query LIKE 'WITH a AS%'
            """
        try await until { try await server.sql(stuck) != 0 }
        guard case .failure(let error) = await answer else {
            Issue.record("a job was accepted without its standby")
            return
        }
        #expect(error.code == .unknown)
        try await server.sql("ALTER SYSTEM RESET synchronous_standby_names")
        try await server.sql("SELECT pg_reload_conf()::int")
        var state: JobState?
        while state == nil { state = try? await store.job(job.id)?.state }
        #expect(state == .queued)
        await store.close()
    }
}
