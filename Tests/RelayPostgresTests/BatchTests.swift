import PostgresTestSupport
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Batches of statements", .timeLimit(.minutes(5)))
struct BatchTests {
    /// A connection to a schema of its own with a table `t` of unique numbers.
    private static func open(on loop: EventLoop) async throws -> PostgresConnection {
        let server = try await PostgresServer.shared()
        let settings = server.settings(schema: try server.makeSchema())
        let connection = try await PostgresConnection.open(settings, on: loop)
        try await connection.run("CREATE TABLE t (n int8 UNIQUE DEFERRABLE)")
        return connection
    }

    private static func insert(_ number: Int64) -> PostgresStatement {
        PostgresStatement("INSERT INTO t VALUES ($1)", [.int64(number)])
    }

    private static func count(_ connection: PostgresConnection) async throws -> Int64? {
        try await connection.run("SELECT count(*) FROM t").int64(0, 0)
    }

    @Test(
        "An error says which statement it was and rolls the batch back, and the connection goes on",
        arguments: [false, true]
    )
    func error(isBlock: Bool) async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            var batch = [Self.insert(1), Self.insert(2), Self.insert(1), Self.insert(3)]
            if isBlock { batch = [PostgresStatement("BEGIN")] + batch + [PostgresStatement("COMMIT")] }
            let failure = try await connection.failure(batch)
            #expect(failure.kind == .refused && failure.sqlState == "23505")
            #expect(failure.statement == (isBlock ? 3 : 2))
            #expect(!failure.isUnknown && !failure.endsConnection && !connection.isOver)
            #expect(failure.message.contains("statement \(isBlock ? 4 : 3) of \(batch.count)"))
            #expect(try await Self.count(connection) == 0)
            // The same texts again, of which the last was never prepared.
            let again = try await connection.run([Self.insert(1), Self.insert(2)], within: ample)
            #expect(again.map(\.affected) == [1, 1])
            #expect(try await Self.count(connection) == 2)
        }
    }

    @Test("An error of the commit belongs to no statement, and rolls back")
    func commit() async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            let failure = try await connection.failure([
                PostgresStatement("SET CONSTRAINTS ALL DEFERRED"), Self.insert(1), Self.insert(1),
            ])
            #expect(failure.sqlState == "23505" && failure.statement == nil && !failure.isUnknown)
            let block = try await connection.failure([
                PostgresStatement("BEGIN"), PostgresStatement("SET CONSTRAINTS ALL DEFERRED"),
                Self.insert(1), Self.insert(1), PostgresStatement("COMMIT"),
            ])
            #expect(block.sqlState == "23505" && block.statement == 4 && !block.isUnknown)
            #expect(try await Self.count(connection) == 0)
        }
    }

    @Test("An error tells no value of a parameter")
    func secrets() async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            try await connection.run(Self.insert(4_711).text, [.int64(4_711)])
            let failures = [
                try await connection.failure([Self.insert(4_711)]),
                try await connection.failure([PostgresStatement("SELECT $1::text::int8", [.text("4711x")])]),
                try await connection.failure([
                    PostgresStatement("INSERT INTO t VALUES ($1::text::int4)", [.text("4711471147114711")])
                ]),
            ]
            #expect(failures.map(\.sqlState) == ["23505", "22P02", "22003"])
            #expect(failures.filter { $0.message.contains("4711") }.isEmpty)
        }
    }

    @Test("Batches of several tasks are answered in the order of their calls")
    func order() async throws {
        try await onLoop { loop in
            let connection = LoopBound(try await Self.open(on: loop), loop)
            let log = Log()
            let tasks = (0..<20).map { number in
                loop.spawn {
                    let batch = [PostgresStatement("SELECT $1::int8", [.int64(Int64(number))])]
                    let results = try? await connection.value.run(batch, within: ample)
                    log.note("\(results?.first?.int64(0, 0) ?? -1)")
                }
            }
            for task in tasks { await task.value }
            #expect(log.lines == (0..<20).map { "\($0)" })
        }
    }

    @Test("A warning is told with the statement that it came with, and a notice is none")
    func warnings() async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            let log = Log()
            connection.onNotice = { log.note("\($0.severity) \($0.sqlState ?? "")") }
            let raise = "DO $$ BEGIN RAISE WARNING 'w'; END $$"
            let results = try await connection.run(
                [
                    PostgresStatement("SELECT 1"), PostgresStatement(raise),
                    PostgresStatement("DROP TABLE IF EXISTS nothing"), PostgresStatement("COMMIT"),
                ],
                within: ample
            )
            // COMMIT warns that no transaction is there.
            #expect(results.map(\.hasWarning) == [false, true, false, true])
            #expect(log.lines == ["WARNING 01000", "NOTICE 00000", "WARNING 25P01"])
        }
    }

    @Test("Bodies of many megabytes go out and come back while the server sends, too")
    func large() async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            let bodies = (0..<8).map { [UInt8](repeating: UInt8($0), count: 2 << 20) }
            let statement = "SELECT unnest($1::bytea[])"
            let results = try await connection.run(
                (0..<3).map { _ in PostgresStatement(statement, [.bytesArray(bodies)]) },
                within: ample
            )
            #expect(results.map(\.count) == [8, 8, 8])
            #expect(results.allSatisfy { result in (0..<8).allSatisfy { result.bytes($0, 0) == bodies[$0] } })
        }
    }

    @Test("A batch that cannot be sent is refused before any of it is, and the connection goes on")
    func rejected() async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            let many = PostgresStatement("SELECT 1", Array(repeating: .int64(1), count: 65_536))
            for bad in [many, PostgresStatement("SELECT 1\u{0}")] {
                let failure = try await connection.failure([Self.insert(1), bad])
                #expect(failure.kind == .protocolError && failure.statement == 1 && !failure.endsConnection)
            }
            #expect(try await Self.count(connection) == 0)
            #expect(try await connection.run([], within: ample).isEmpty)
        }
    }

    @Test("COPY ends the connection instead of waiting for it")
    func copy() async throws {
        try await onLoop { loop in
            let connection = try await Self.open(on: loop)
            let failure = try await connection.failure([PostgresStatement("COPY t FROM STDIN")])
            #expect(failure.kind == .protocolError && failure.endsConnection && connection.isOver)
        }
    }
}
