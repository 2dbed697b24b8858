import RelayBase
import RelayFleetBench
import RelayJobs
import RelayPostgres
import RelayTestSupport
import Testing

@testable import RelayFleet

@Suite("A node that takes its name again keeps track of all it had under way", .timeLimit(.minutes(2)))
struct RejoinTests {
    /// As a node does that takes over.
    private static let taken = """
        UPDATE SCHEMA.node SET former = former || generation, generation = nextval('SCHEMA.generation')
        WHERE name = 'one'
        """

    /// A node, and what it says.
    private static func open(
        _ nodes: Nodes,
        _ change: (inout FleetOptions) -> Void = { _ in }
    ) async throws -> (PostgreSQLJobStore, Notes<String>) {
        let said = Notes<String>()
        var events = JobStoreEvents()
        events.notice = { said.add([$0]) }
        return (try await nodes.open("one", lease: .milliseconds(1_500), events: events, change), said)
    }

    /// Returns once it has begun anew.
    private static func rejoined(_ store: PostgreSQLJobStore, _ said: Notes<String>) async throws {
        while said.values.isEmpty { _ = try await store.facts() }
        #expect(await store.opened(within: .seconds(60)) == nil)
    }

    @Test("A body that was on its way is whole")
    func body() async throws {
        let nodes = try await Nodes()
        let (one, said) = try await Self.open(nodes)
        let spool = try await one.spool()
        let piece = [UInt8](repeating: 7, count: StoredBodyFile.pieceSize)
        try await spool.append(piece)
        try await nodes.sql(Self.taken)
        try await Self.rejoined(one, said)
        try await spool.append([8])
        let file = try await spool.finish()
        var job = NewJob.ofFleet()
        job.body = .file(file)
        #expect(await one.answer(job) == .success(.accepted))
        #expect(try await one.nextClaim().body == .file(file))
        #expect(try await one.piece(0, of: file) == piece)
        #expect(try await one.piece(1, of: file) == [8])
        await one.close()
    }

    @Test("Events that came meanwhile are told of afterwards")
    func events() async throws {
        let nodes = try await Nodes()
        let (one, _) = try await Self.open(nodes)
        let two = try await nodes.open("two")
        #expect(try await two.exchange([], reading: [.jobSucceeded]).isEmpty)
        try await nodes.sql(
            """
            CREATE FUNCTION SCHEMA.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END'
            """
        )
        try await nodes.sql(
            """
            CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON SCHEMA.node FOR EACH ROW
            WHEN (NEW.name = 'one' AND current_setting('application_name') = 'waystation')
            EXECUTE FUNCTION SCHEMA.refuse()
            """
        )
        try await nodes.sql(Self.taken)
        while one.refusal == nil { _ = try await one.facts() }
        let event = SharedEvent(.jobSucceeded, at: 1, data: Array("{}".utf8))
        await #expect(throws: StoreError.self) { _ = try await one.exchange([event], reading: []) }
        try await nodes.sql("DROP TRIGGER refuse ON SCHEMA.node")
        #expect(await one.opened(within: .seconds(60)) == nil)
        #expect(try await one.exchange([], reading: []).isEmpty)
        #expect(try await two.exchange([], reading: [.jobSucceeded]).map(\.at) == [1])
        await one.close()
        await two.close()
    }

    @Test(
        "A claim that is committed once another node has taken over and forgotten it is found by the next start"
    )
    func late() async throws {
        let nodes = try await Nodes()
        let (one, said) = try await Self.open(nodes) {
            $0.statementTimeout = .seconds(1)
            $0.database.limits.statement = .seconds(100)
            $0.database.limits.connectionCheck = .seconds(100)
        }
        let job = NewJob.ofFleet()
        #expect(await one.answer(job) == .success(.accepted))
        let halt = try await Halt(nodes, "change_0", when: "NEW.upstream = 'eu'", inCommit: true)
        async let lost = one.claim("hooks", limit: 1, upstream: "eu", at: .present)
        _ = try await halt.reached()
        try await nodes.sql("DELETE FROM SCHEMA.node")
        _ = try? await lost
        while try await nodes.sql("SELECT count(*) FROM SCHEMA.node") == 0 {}
        try await Self.rejoined(one, said)
        await one.breakOff()
        try await halt.letGo()
        while try await nodes.sql("SELECT count(*) FROM SCHEMA.change") == 0 {}
        let (back, _) = try await Self.open(nodes)
        #expect(try await back.job(job.id)?.state == .retrying)
        await back.close()
    }

    @Test("Statements that it has sent are waited for, though those of earlier starts are over")
    func horizon() async throws {
        let nodes = try await Nodes()
        let (first, _) = try await Self.open(nodes)
        await first.breakOff()
        let (one, said) = try await Self.open(nodes) { $0.longestWay = .seconds(4) }
        let former = "SELECT cardinality(former) FROM SCHEMA.node"
        while try await nodes.sql(former) != 0 {}
        let session = try await nodes.session()
        try await session.run("BEGIN")
        try await session.run(nodes.named("LOCK TABLE SCHEMA.job IN ACCESS EXCLUSIVE MODE"))
        try await nodes.sql(Self.taken)
        while said.values.isEmpty { _ = try await one.facts() }
        // It looks for what has come of it, and waits, and beats meanwhile.
        try await session.run("SELECT count(pg_sleep(2))")
        try await session.run("COMMIT")
        session.end()
        try await Self.rejoined(one, said)
        try await nodes.sql("SELECT count(pg_sleep(1))")
        #expect(try await nodes.sql(former) ?? 0 > 0)
        await one.close()
    }

    @Test("A job that was accepted with its claim behind what a promoted standby had seen is found")
    func promoted() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one", lease: .seconds(6))
        try await nodes.sql("SELECT setval('SCHEMA.seq', 1000)")
        while try await nodes.sql("SELECT floor FROM SCHEMA.node") ?? 0 < 1_000 {}
        // The lease has just been renewed; the standby has neither the positions nor the floor.
        try await nodes.sql("SELECT setval('SCHEMA.seq', 10)")
        try await nodes.sql("UPDATE SCHEMA.node SET floor = 5 RETURNING floor")
        let halt = try await Halt(nodes, "job_0", when: "NEW.state = 2", inCommit: true)
        let job = NewJob.ofFleet { $0.upstream = "eu" }
        async let answer = one.answer(job)
        _ = try await halt.reached()
        for _ in 0..<5 { try await nodes.sql("SELECT nextval('SCHEMA.seq')") }
        let until = try await nodes.sql("SELECT until FROM SCHEMA.node")
        while try await nodes.sql("SELECT until FROM SCHEMA.node") == until {}
        await one.breakOff()
        try await halt.letGo()
        _ = await answer
        while try await nodes.sql("SELECT count(*) FROM SCHEMA.job") == 0 {}
        let back = try await nodes.open("one", lease: .seconds(6))
        #expect(try await back.job(job.id)?.state == .retrying)
        await back.close()
    }

    @Test("No claim has the number of another one, and each may be sent, however many there were")
    func numbers() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        try await one.onLoop { core throws(StoreError) in core.nextToken = 1 << 32 - 1 }
        var last: UInt64 = 0
        for _ in 0..<3 {
            #expect(await one.answer(.ofFleet()) == .success(.accepted))
            let token = try await one.nextClaim().token
            #expect(one.maySend(token) && token.number > last)
            last = token.number
        }
        await one.close()
    }
}
