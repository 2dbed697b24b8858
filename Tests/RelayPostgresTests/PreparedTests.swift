import PostgresTestSupport
import RelayPostgres
import Testing

@Suite("Prepared statements", .timeLimit(.minutes(5)))
struct PreparedTests {
    private static let held = "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"

    @Test("Each text is prepared once, up to the bound, and what comes after runs without a name")
    func bounded() async throws {
        var settings = try await PostgresServer.shared().settings()
        settings.limits.prepared = 4
        try await onLoop { [settings] loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            for _ in 0..<2 {
                for number in 1...9 {
                    #expect(try await connection.run("SELECT \(number)").int64(0, 0) == Int64(number))
                }
            }
            #expect(connection.preparedCount == 4)
            #expect(try await connection.run(Self.held).int64(0, 0) == 4)
        }
    }

    @Test("A text that stands twice in a batch is prepared once, and by type of its parameters")
    func twice() async throws {
        let settings = try await PostgresServer.shared().settings()
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            let text = "SELECT $1 IS NULL"
            let values: [PostgresValue] = [.int64(1), .int64(2), .null, .text("x")]
            let results = try await connection.run(
                values.map { PostgresStatement(text, [$0]) },
                within: ample
            )
            #expect(results.map { $0.bool(0, 0) } == [false, false, true, false])
            #expect(connection.preparedCount == 2)
        }
    }

    @Test("A statement whose plan no longer holds, or that is gone, fails once and is prepared anew")
    func anew() async throws {
        let server = try await PostgresServer.shared()
        let settings = server.settings(schema: try server.makeSchema())
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            try await connection.run("CREATE TABLE t AS SELECT 1 AS n")
            let all = "SELECT * FROM t"
            try await connection.run(all)
            try await connection.run("ALTER TABLE t ADD m int DEFAULT 2")
            #expect(try await connection.failure([PostgresStatement(all)]).sqlState == "0A000")
            #expect(try await connection.run(all).int64(0, 1) == 2)
            try await connection.run("DEALLOCATE ALL")
            #expect(try await connection.failure([PostgresStatement(all)]).sqlState == "26000")
            #expect(try await connection.run(all).int64(0, 1) == 2)
        }
    }
}
