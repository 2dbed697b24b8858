import PostgresTestSupport
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Behind a pooler in transaction mode", .timeLimit(.minutes(5)))
struct PoolerTests {
    @Test("Many connections share two of the server, and no session keeps anything")
    func shared() async throws {
        let server = try await PostgresServer.shared()
        let pooler = try PgBouncer(before: server, connections: 2)
        let schema = try server.makeSchema()
        let database = try server.makeDatabase()
        try server.sql("CREATE SCHEMA \(schema); CREATE TABLE \(schema).t (n int8)", in: database)
        let processes = Log()
        try await onLoop { loop in
            let settings = pooler.settings(database: database, schema: schema)
            let tasks = (0..<12).map { number in
                loop.spawn {
                    do {
                        let connection = try await PostgresConnection.open(settings, on: loop)
                        for round in 0..<10 {
                            let results = try await connection.run(
                                [
                                    PostgresStatement("BEGIN"),
                                    PostgresStatement("SET LOCAL search_path = \(schema)"),
                                    PostgresStatement(
                                        "INSERT INTO t VALUES ($1) RETURNING pg_backend_pid()",
                                        [.int64(Int64(number * 100 + round))]
                                    ),
                                    PostgresStatement("COMMIT"),
                                ],
                                within: ample
                            )
                            processes.note("\(results[2].int64(0, 0) ?? -1)")
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            for task in tasks { await task.value }
        }
        // On a slow machine the pooler makes do with one, or replaces one that was long in coming.
        #expect((1...4).contains(Set(processes.lines).count) && processes.lines.count == 120)
        #expect(try server.sql("SELECT count(DISTINCT n) FROM \(schema).t", in: database) == "120")
        try await onLoop { loop in
            let settings = pooler.settings(database: database)
            let connection = try await PostgresConnection.open(settings, on: loop)
            #expect(try await connection.run("SHOW search_path").text(0, 0) == "\"$user\", public")
            #expect(try await connection.run("SHOW statement_timeout").text(0, 0) == "0")
            #expect(try await connection.run("SELECT count(*) FROM pg_prepared_statements").int64(0, 0) == 0)
            #expect(connection.preparedCount == 0)
        }
    }

    @Test("A statement is planned as in a session of one's own, alone and in a block")
    func plans() async throws {
        let pooler = try PgBouncer(before: try await PostgresServer.shared(), connections: 1)
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(pooler.settings(), on: loop)
            let words = PostgresStatement(
                "SELECT current_setting('jit') || current_setting('enable_seqscan')"
            )
            let alone = try await connection.run([words], within: ample)
            #expect(alone.count == 1 && alone[0].text(0, 0) == "offoff")
            let block = [PostgresStatement("BEGIN"), words, PostgresStatement("COMMIT")]
            let results = try await connection.run(block, within: ample)
            #expect(results.count == 3 && results[1].text(0, 0) == "offoff")
            #expect(results.allSatisfy { !$0.hasWarning })
        }
    }

    @Test("A block that fails is rolled back, so that the server's connection is free again")
    func rollback() async throws {
        let server = try await PostgresServer.shared()
        let pooler = try PgBouncer(before: server, connections: 1)
        try await onLoop { loop in
            let one = try await PostgresConnection.open(pooler.settings(), on: loop)
            let other = try await PostgresConnection.open(pooler.settings(), on: loop)
            for _ in 0..<3 {
                let failure = try await one.failure([
                    PostgresStatement("BEGIN"), PostgresStatement("SELECT 1 / 0"),
                    PostgresStatement("COMMIT"),
                ])
                #expect(failure.sqlState == "22012" && failure.statement == 1 && !failure.endsConnection)
                #expect(try await other.run("SELECT 1").int64(0, 0) == 1)
            }
        }
    }

    @Test("A server process that ends under a batch leaves it unknown, whatever the pooler says")
    func lost() async throws {
        let server = try await PostgresServer.shared()
        let pooler = try PgBouncer(before: server)
        let failure = try await onLoop { loop in
            let connection = try await PostgresConnection.open(pooler.settings(), on: loop)
            try startDetachedThread("test") {
                let sessions = "pg_stat_activity WHERE query = 'SELECT pg_sleep(601)'"
                recording {
                    try blockUntil {
                        (try? server.sql("SELECT pg_terminate_backend(pid) FROM \(sessions)")) == "t"
                    }
                }
            }
            return try await connection.failure([PostgresStatement("SELECT pg_sleep(601)")])
        }
        #expect(failure.kind == .lost && failure.isUnknown && failure.endsConnection)
    }

    @Test("A server that does not write is refused through the pooler, too")
    func readOnly() async throws {
        let server = try await PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql("ALTER DATABASE \(database) SET default_transaction_read_only = on")
        let pooler = try PgBouncer(before: server)
        let library = try PostgresLibrary.open()
        let refused = try await onLoop { loop in
            try await refusal(pooler.settings(database: database), library, on: loop)
        }
        #expect(refused.kind == .unreachable && refused.message.contains("read-only"))
    }
}
