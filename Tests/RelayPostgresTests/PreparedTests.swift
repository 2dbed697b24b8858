import PostgresTestSupport
import RelayPostgres
import Testing

@Suite("Prepared statements", .timeLimit(.minutes(5)))
struct PreparedTests {
    private static let held = "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"

    private static func settings(most: Int) async throws -> PostgresSettings {
        var settings = try await PostgresServer.shared().settings()
        settings.limits.prepared = most
        return settings
    }

    @Test("Of many texts the server holds the ones used last, up to the bound, and plans none of these anew")
    func bounded() async throws {
        let settings = try await Self.settings(most: 4)
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            for number in 1...9 {
                #expect(try await connection.run("SELECT \(number)").int64(0, 0) == Int64(number))
                // The first is used all the time: it keeps its name.
                #expect(try await connection.run("SELECT 1").int64(0, 0) == 1)
            }
            #expect(connection.preparedCount == 4)
            // The questions themselves are two of them.
            #expect(try await connection.run(Self.held).int64(0, 0) == 4)
            for (name, isThere) in [("s1", true), ("s9", true), ("s8", false), ("s2", false)] {
                let question = PostgresStatement(
                    "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql AND name = $1",
                    [.text(name)]
                )
                let found = try await connection.run([question], within: ample)[0].int64(0, 0)
                #expect(found == (isThere ? 1 : 0), "\(name)")
            }
        }
    }

    @Test("A batch of more texts than the bound runs what is beyond it without a name")
    func many() async throws {
        let settings = try await Self.settings(most: 4)
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            try await connection.run("SELECT 0")
            let results = try await connection.run(
                (1...9).map { PostgresStatement("SELECT \($0)") },
                within: ample
            )
            #expect(results.map { $0.int64(0, 0) } == (1...9).map { Int64($0) })
            #expect(connection.preparedCount == 4)
            #expect(try await connection.run(Self.held).int64(0, 0) == 4)
        }
    }

    @Test("A statement whose end was rolled back with its batch is ended with the next one")
    func rolledBack() async throws {
        let settings = try await Self.settings(most: 2)
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            for number in 1...2 { try await connection.run("SELECT \(number)") }
            for number in 3...9 {
                let batch = ["SELECT 1/(\(number) - \(number))", "SELECT \(number)"].map {
                    PostgresStatement($0)
                }
                #expect(try await connection.failure(batch).sqlState == "22012")
            }
            #expect(try await connection.run(Self.held).int64(0, 0) ?? 9 <= 2)
            // One that is gone by itself fails one batch, as any statement does that the server does not have.
            try await connection.run("DEALLOCATE ALL")
            for number in 10...14 { _ = try? await connection.run("SELECT \(number)") }
            #expect(try await connection.run("SELECT 15").int64(0, 0) == 15)
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
