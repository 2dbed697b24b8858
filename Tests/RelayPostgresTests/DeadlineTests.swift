import PostgresTestSupport
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Deadlines of batches and connections", .timeLimit(.minutes(5)))
struct DeadlineTests {
    @Test(
        "A batch that is late ends the connection, may have been carried out, and its server process ends too"
    )
    func late() async throws {
        let server = try await PostgresServer.shared()
        let process = try await onLoop { loop in
            let connection = try await PostgresConnection.open(server.settings(), on: loop)
            let failure = try await connection.failure(
                [PostgresStatement("SELECT 1"), PostgresStatement("SELECT pg_sleep(600)")],
                within: .milliseconds(300)
            )
            #expect(failure.kind == .timeout && failure.isUnknown && failure.endsConnection)
            #expect(failure.message.contains("2 statements within 300ms"))
            #expect(connection.isOver)
            let after = try await connection.failure([PostgresStatement("SELECT 1")])
            #expect(after.kind == .lost && !after.isUnknown && after.endsConnection)
            return connection.processID
        }
        // It looks for its client every two seconds.
        let question = "SELECT count(*) FROM pg_stat_activity WHERE pid = \(process)"
        try blockUntil { try server.sql(question) == "0" }
    }

    @Test("A server process that stands still is given up at the deadline")
    func standstill() async throws {
        let server = try await PostgresServer.shared()
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(server.settings(), on: loop)
            let process = connection.processID
            server.pause(process, true)
            let failure = try await connection.failure(
                [PostgresStatement("SELECT 1")],
                within: .milliseconds(100)
            )
            server.pause(process, false)
            #expect(failure.kind == .timeout && failure.isUnknown && connection.isOver)
        }
    }

    @Test("A batch whose time is over while it waits for another fails alone and was never sent")
    func waiting() async throws {
        let server = try await PostgresServer.shared()
        let settings = server.settings(schema: try server.makeSchema())
        try await onLoop { loop in
            let connection = LoopBound(try await PostgresConnection.open(settings, on: loop), loop)
            let first = loop.spawn {
                let result = try? await connection.value.run("SELECT pg_sleep(1)")
                #expect(result?.count == 1)
            }
            // Its task begins before this one goes on.
            await loop.nextIteration()
            let failure = try await connection.value.failure(
                [PostgresStatement("CREATE TABLE t ()")],
                within: .milliseconds(50)
            )
            #expect(failure.kind == .timeout && !failure.isUnknown && !failure.endsConnection)
            await first.value
            #expect(try await connection.value.run("SELECT to_regclass('t')::text").isNull(0, 0))
        }
    }

    @Test("The server's own deadlines are set for the session, and its schema")
    func session() async throws {
        let server = try await PostgresServer.shared()
        var settings = server.settings(schema: "a \"b\\c")
        settings.limits.statement = .seconds(7)
        settings.applicationName = "waystation test"
        try await onLoop { [settings] loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            let result = try await connection.run(
                """
                SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                current_setting('idle_in_transaction_session_timeout'),
                current_setting('client_connection_check_interval'), current_setting('application_name'),
                current_setting('search_path')
                """
            )
            #expect(
                (0..<6).map { result.text(0, $0) }
                    == ["7s", "10s", "10s", "2s", "waystation test", "\"a \"\"b\\c\""]
            )
            #expect(connection.serverVersion >= 150_000 && connection.processID > 0)
        }
    }
}
