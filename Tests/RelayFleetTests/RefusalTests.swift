import PostgresTestSupport
import RelayBase
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@testable import RelayFleet

@Suite("A refusal of the server is told as what it is, and heals", .timeLimit(.minutes(3)))
struct RefusalTests {
    /// A class of errors, what it is told as, and words of its sentence.
    struct Kind: Sendable, CustomTestStringConvertible {
        let state: String
        let code: StoreError.Code
        let words: String
        var message = "no"
        /// Whether the connection is over with it.
        var ends = false
        var testDescription: String { state }
    }

    private static let kinds = [
        Kind(state: "53100", code: .full, words: "disk is full"),
        Kind(state: "53300", code: .unavailable, words: "max_connections"),
        Kind(state: "57014", code: .unavailable, words: "cancelled"),
        Kind(state: "42501", code: .unavailable, words: "GRANT"),
        Kind(state: "3F000", code: .unavailable, words: "store migrate"),
        Kind(state: "42P01", code: .unavailable, words: "store migrate"),
        Kind(state: "55P03", code: .unavailable, words: "pg_locks"),
        Kind(state: "XX001", code: .unavailable, words: "damaged"),
        Kind(state: "25006", code: .unavailable, words: "standby", ends: true),
        Kind(state: "57P01", code: .unavailable, words: "the server stops", ends: true),
        Kind(state: "57P02", code: .unavailable, words: "the server stops", ends: true),
        Kind(state: "57P03", code: .unavailable, words: "the server stops", ends: true),
        Kind(
            state: "55000",
            code: .unavailable,
            words: "during recovery",
            message: "cannot do that during recovery",
            ends: true
        ),
    ]

    @Test(
        "Of each class: other jobs are settled, and the next is accepted when it is over",
        arguments: kinds
    )
    func kind(_ kind: Kind) async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        #expect(await store.answer(.ofFleet()) == .success(.accepted))
        let claim = try await store.nextClaim()
        let sessions = """
            SELECT (extract(epoch FROM min(backend_start)) * 1000000)::bigint FROM pg_stat_activity
            WHERE application_name = 'waystation' AND query LIKE '%SCHEMA%'
            """
        let before = try await nodes.sql(sessions) ?? 0
        try await nodes.sql(
            """
            CREATE FUNCTION SCHEMA.refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE ''\(kind.message)'' USING ERRCODE = ''\(kind.state)''; END'
            """
        )
        try await nodes.sql(
            "CREATE TRIGGER refuse BEFORE INSERT ON SCHEMA.job_0 FOR EACH ROW EXECUTE FUNCTION SCHEMA.refuse()"
        )
        let job = NewJob.ofFleet()
        guard case .failure(let error) = await store.answer(job) else {
            Issue.record("accepted in spite of \(kind.state)")
            return
        }
        #expect(error.code == kind.code && error.message.contains(text: kind.words), "\(error)")
        #expect(try await store.job(job.id) == nil)
        #expect(
            try await store.settle([Settlement(claim.token, .succeeded)], at: .present) == [
                .applied(.succeeded)
            ]
        )
        try await nodes.sql("DROP TRIGGER refuse ON SCHEMA.job_0")
        #expect(await store.answer(job) == .success(.accepted))
        // None of the node's connections is left that led there.
        if kind.ends { #expect(try await nodes.sql(sessions) ?? 0 > before) }
        await store.close()
    }

    @Test("A right that is missing, a schema that is away, and a role without connections: each heals")
    func really() async throws {
        let nodes = try await Nodes()
        let role = "role_of_\(nodes.schema)"
        let session = try await nodes.session()
        defer { session.end() }
        try await session.run("CREATE ROLE \(role) LOGIN")
        for grant in FleetSchema(nodes.schema).grants(to: role) { try await session.run(grant) }
        let schema = nodes.schema
        let store = try await nodes.open("one") { $0.database.user = role }
        let faults = [
            (
                "REVOKE INSERT ON \(schema).job_0 FROM \(role)", "GRANT INSERT ON \(schema).job_0 TO \(role)",
                "GRANTs"
            ),
            (
                "ALTER SCHEMA \(schema) RENAME TO \(role)", "ALTER SCHEMA \(role) RENAME TO \(schema)",
                "store migrate"
            ),
            (
                "ALTER ROLE \(role) CONNECTION LIMIT 0", "ALTER ROLE \(role) CONNECTION LIMIT -1",
                "as many connections"
            ),
        ]
        for (fault, mending, words) in faults {
            try await session.run(fault)
            let end =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '\(role)'"
            try await session.run(end)
            var told = ""
            while !told.contains(text: words) {
                guard case .failure(let error) = await store.answer(.ofFleet()) else { continue }
                #expect(error.code == .unavailable)
                told = error.message
            }
            try await session.run(mending)
            var answer = await store.answer(.ofFleet())
            while answer != .success(.accepted) { answer = await store.answer(.ofFleet()) }
        }
        await store.close()
    }

    @Test(
        "A statement that is cancelled, and a session that is ended before its COMMIT, have kept no job",
        arguments: [
            "pg_cancel_backend", "pg_terminate_backend",
        ]
    )
    func ended(by function: String) async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        let halt = try await Halt(nodes, "job_0", when: "NEW.state < 100", inCommit: false)
        let job = NewJob.ofFleet()
        async let answer = store.answer(job)
        let process = try await halt.reached()
        try await nodes.sql("SELECT \(function)(\(process))::int")
        guard case .failure(let error) = await answer else {
            Issue.record("accepted in spite of \(function)")
            return
        }
        #expect(error.code == .unavailable)
        try await halt.letGo()
        #expect(try await store.job(job.id) == nil)
        await store.close()
    }

    @Test("A server that cannot read its own data when a node takes its name again ends no daemon, and heals")
    func damaged() async throws {
        let nodes = try await Nodes()
        let fatal = Notes<StoreError>()
        let said = Notes<String>()
        var events = JobStoreEvents()
        events.fatal = { fatal.add([$0]) }
        events.notice = { said.add([$0]) }
        let store = try await nodes.open("one", lease: .seconds(1), events: events)
        try await nodes.sql(
            """
            CREATE FUNCTION SCHEMA.refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE ''invalid page'' USING ERRCODE = ''XX001''; END'
            """
        )
        try await nodes.sql(
            "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON SCHEMA.node FOR EACH ROW EXECUTE FUNCTION SCHEMA.refuse()"
        )
        // Another process has had its name meanwhile: it takes it again.
        try await nodes.sql("ALTER TABLE SCHEMA.node DISABLE TRIGGER refuse")
        try await nodes.sql("UPDATE SCHEMA.node SET generation = generation + 100")
        try await nodes.sql("ALTER TABLE SCHEMA.node ENABLE TRIGGER refuse")
        while store.refusal?.message.contains(text: "damaged") != true { _ = await store.answer(.ofFleet()) }
        #expect(store.refusal?.code == .unavailable)
        guard case .failure(let error) = await store.answer(.ofFleet()) else {
            Issue.record("accepted without its name")
            return
        }
        #expect(error.code == .unavailable && error.message.contains(text: "damaged"))
        try await nodes.sql("DROP TRIGGER refuse ON SCHEMA.node")
        var answer = await store.answer(.ofFleet())
        while answer != .success(.accepted) { answer = await store.answer(.ofFleet()) }
        #expect(fatal.values.isEmpty)
        await store.close()
    }

    @Test("Each risk is accepted by its own word alone")
    func risks() async throws {
        let nodes = try await Nodes()
        let role = "lax_role_of_\(nodes.schema)"
        let session = try await nodes.session()
        defer { session.end() }
        try await session.run("CREATE ROLE \(role) LOGIN")
        for grant in FleetSchema(nodes.schema).grants(to: role) { try await session.run(grant) }
        let others: FleetRisks = [.fsyncOff, .fullPageWritesOff]
        let strict = try await nodes.open("one", user: role) { $0.risks = others }
        let lax = try await nodes.open("two", user: role) { $0.risks = .synchronousCommitOff }
        #expect(await strict.answer(.ofFleet()) == .success(.accepted))
        try await session.run("ALTER ROLE \(role) SET synchronous_commit = off")
        try await session.run(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '\(role)'"
        )
        var told = ""
        while !told.contains(text: "accept_risk") {
            guard case .failure(let error) = await strict.answer(.ofFleet()) else { continue }
            told = error.message
        }
        guard case .failure = await strict.answer(.ofFleet()) else {
            Issue.record("accepted with a risk that nobody has accepted")
            return
        }
        var answer = await lax.answer(.ofFleet())
        while answer != .success(.accepted) { answer = await lax.answer(.ofFleet()) }
        try await session.run("SET synchronous_commit = off")
        for (risks, count) in [([], 1), (others, 1), (.synchronousCommitOff, 0), ([.fsyncOff], 1)]
            as [(FleetRisks, Int64)]
        {
            #expect(
                try await session.run("SELECT (\(risks.found) = 'synchronous_commit_off')::int::bigint")
                    == count
            )
            #expect(try await session.run("SELECT (NOT \(risks.isSafe))::int::bigint") == count)
        }
        await strict.close()
        await lax.close()
    }

    @Test("Nobody waits for a connection for longer than a statement may take")
    func pool() async throws {
        let server = try await PostgresServer.shared()
        let library = try PostgresLibrary.open()
        try await onLoop { loop in
            let pool = FleetPool(
                server.settings(),
                library,
                limit: 1,
                statementTimeout: .milliseconds(300),
                on: loop
            )
            let one = PostgresStatement("SELECT 1")
            let count = try await pool.use("hold it") { connection throws(PostgresError) in
                let error = await #expect(throws: PostgresError.self) {
                    try await pool.borrow("have it") { other throws(PostgresError) in
                        try await other.run([one], within: .seconds(9))
                    }
                }
                #expect(error?.kind == .timeout && error?.isUnknown == false)
                return try await connection.run([one], within: .seconds(9)).count
            }
            #expect(count == 1)
            _ = try await pool.use("have it") { connection throws(PostgresError) in
                try await connection.run([one], within: .seconds(9))
            }
            pool.close()
        }
    }

    @Test("A node finds the server that writes among several hosts")
    func hosts() async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one") {
            $0.database.others = [($0.database.host, $0.database.port)]
            ($0.database.host, $0.database.port) = ("127.0.0.1", 1)
        }
        #expect(await store.answer(.ofFleet()) == .success(.accepted))
        await store.close()
    }
}
