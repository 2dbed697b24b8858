import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Jobs that a node holds are found among any number of claims that are over", .timeLimit(.minutes(5)))
struct ManyClaimsTests {
    /// Makes jobs that the node has claimed and settled, half of them with their acceptance.
    private static func live(_ count: Int, _ nodes: Nodes) async throws {
        let text = nodes.named(
            """
            WITH j AS (INSERT INTO SCHEMA.job_0(slot, seq, id, route, created, state, generation, standing, record)
            SELECT 0, nextval('SCHEMA.seq'), gen_random_uuid(), 1, 0, 1 + i % 2,
            CASE WHEN i % 2 = 1 THEN n.generation END, '', '' FROM generate_series(1, \(count)) i, SCHEMA.node n
            RETURNING seq, generation),
            c AS (INSERT INTO SCHEMA.change_0(slot, seq, n, at, state, generation, token, upstream, standing)
            SELECT 0, seq, 1, 0, 2, n.generation, (n.generation << 38) - row_number() OVER (), 'eu', ''
            FROM j, SCHEMA.node n WHERE j.generation IS NULL)
            INSERT INTO SCHEMA.change_0(slot, seq, n, at, state, token, standing)
            SELECT 0, seq, CASE WHEN generation IS NULL THEN 2 ELSE 1 END, 0, 5, 1, '' FROM j
            """
        )
        let server = nodes.server
        _ = try await offPool { try server.sql(text) }
    }

    private static func claim(_ store: PostgreSQLJobStore) async throws -> Claim {
        #expect(await store.answer(.ofFleet()) == .success(.accepted))
        return try await store.nextClaim()
    }

    @Test(
        "Jobs of a node that died are taken up with few of the rows read, by itself or another one",
        arguments: [true, false]
    )
    func found(byItself: Bool) async throws {
        let nodes = try await Nodes(.make())
        let lease: Duration = .milliseconds(1_500)
        let one = try await nodes.open("one", lease: lease)
        // One runs since before all others; one is claimed with its acceptance.
        var ids = [try await Self.claim(one).token.id]
        try await Self.live(300_000, nodes)
        let last = try await Self.claim(one).token
        // Until it knows that nothing waits.
        #expect(try await one.claim("hooks", limit: 1, upstream: "eu", at: .present).claims.isEmpty)
        let born = NewJob.ofFleet { $0.upstream = "eu" }
        guard case .success(.running) = await one.answer(born) else {
            Issue.record("nothing waits, and the job does not run")
            return
        }
        ids += [last.id, born.id]
        try await until { try await nodes.sql("SELECT floor FROM SCHEMA.node") ?? 0 >= last.position }
        ids.append(try await Self.claim(one).token.id)
        await one.breakOff()
        let before = try await nodes.entriesRead()
        let begun = SystemClock.monotonic()
        let other = try await nodes.open(byItself ? "one" : "two", lease: lease)
        var found: Set<JobID> = []
        while found.count < ids.count { found.insert(try await other.nextClaim().token.id) }
        let taken = SystemClock.monotonic() - begun
        #expect(found == Set(ids))
        await other.close()
        let rows = try await nodes.entriesRead() - before
        print("taken up in \(taken / 1_000_000) ms, \(rows) rows and entries read")
        #expect(rows < 20_000)
    }

    @Test(
        "A claim of an earlier start that is committed after the next one has looked is taken up all the same"
    )
    func late() async throws {
        let nodes = try await Nodes()
        func open() async throws -> PostgreSQLJobStore {
            try await nodes.open("one") {
                $0.statementTimeout = .seconds(1)
                $0.database.limits.statement = .seconds(100)
                $0.database.limits.connectionCheck = .seconds(100)
                $0.longestWay = .milliseconds(200)
            }
        }
        let one = try await open()
        let job = NewJob.ofFleet()
        #expect(await one.answer(job) == .success(.accepted))
        let halt = try await Halt(nodes, "change_0", when: "NEW.upstream = 'eu'", inCommit: true)
        async let lost = one.claim("hooks", limit: 1, upstream: "eu", at: .present)
        _ = try await halt.reached()
        await one.breakOff()
        _ = try? await lost
        let back = try await open()
        #expect(try await back.job(job.id)?.state == .queued)
        // It has looked for what may still be open, more than once.
        try await nodes.sql("SELECT count(pg_sleep(3))")
        try await halt.letGo()
        try await until { try await back.job(job.id)?.state != .queued }
        #expect(try await back.nextClaim().token.id == job.id)
        #expect(try await back.job(job.id)?.crashes == 1)
        try await until { try await nodes.sql("SELECT cardinality(former) FROM SCHEMA.node") == 0 }
        await back.close()
    }

    @Test(
        "A claim that is committed long after its reply was given up is given back while jobs come all the time"
    )
    func underLoad() async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one") {
            $0.statementTimeout = .seconds(1)
            $0.database.limits.connectionCheck = .seconds(100)
        }
        let job = NewJob.ofFleet()
        #expect(await store.answer(job) == .success(.accepted))
        // So slow that the next acceptance waits when one is over.
        try await nodes.sql(
            """
            CREATE FUNCTION SCHEMA.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END'
            """
        )
        try await nodes.sql(
            "CREATE TRIGGER slow BEFORE INSERT ON SCHEMA.job_0 FOR EACH STATEMENT EXECUTE FUNCTION SCHEMA.slow()"
        )
        let halt = try await Halt(nodes, "change_0", when: "NEW.upstream = 'eu'", inCommit: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !Task.isCancelled {
                        let other = NewJob.ofFleet { $0.record.route = "others" }
                        #expect(await store.answer(other) == .success(.accepted))
                    }
                }
            }
            let lost = await #expect(throws: StoreError.self) {
                _ = try await store.claim("hooks", limit: 1, upstream: "eu", at: .present)
            }
            #expect(lost?.code == .unavailable)
            // It has been looked for meanwhile, more than once.
            try await nodes.sql("SELECT count(pg_sleep(2))")
            #expect(try await store.job(job.id)?.state == .queued)
            try await halt.letGo()
            // The claim and that it was given back: two changes, the first of which may stand for a moment only.
            try await until { try await nodes.sql("SELECT count(*) FROM SCHEMA.change_0") ?? 0 >= 2 }
            #expect(try await store.job(job.id)?.state == .queued)
            group.cancelAll()
            try await group.waitForAll()
        }
        try await nodes.sql("DROP TRIGGER halt ON SCHEMA.change_0")
        #expect(try await store.nextClaim().token.id == job.id)
        await store.close()
    }
}
