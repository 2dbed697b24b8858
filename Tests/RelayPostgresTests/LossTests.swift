import PostgresTestSupport
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Connections that are lost", .timeLimit(.minutes(5)))
struct LossTests {
    private static let sleep = PostgresStatement("SELECT pg_sleep(600)")
    private static let begin = PostgresStatement("BEGIN")
    private static let commit = PostgresStatement("COMMIT")

    /// Runs a batch with a pause in it, and the body when the server has come to the pause.
    private static func failure(
        of batch: [PostgresStatement],
        at server: PostgresServer,
        _ body: @escaping @Sendable (_ process: Int32) throws -> Void
    ) async throws -> PostgresError {
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(server.settings(), on: loop)
            let process = connection.processID
            try startDetachedThread("test") {
                let question = "SELECT wait_event FROM pg_stat_activity WHERE pid = \(process)"
                recording {
                    try blockUntil { (try? server.sql(question)) == "PgSleep" }
                    try body(process)
                }
            }
            return try await connection.failure(batch)
        }
    }

    @Test("A server process that is killed: what was sent as a whole may have been carried out")
    func killed() async throws {
        let server = try await PostgresServer.make()
        var starts = 0
        for batch in [[Self.sleep], [Self.begin, Self.sleep, Self.commit]] {
            let failure = try await Self.failure(of: batch, at: server) { server.kill($0) }
            #expect(failure.kind == .lost && failure.isUnknown && failure.endsConnection)
            starts += 1
            try await Self.recovered(server, after: starts)
        }
    }

    /// Connects until the server is through with its recovery, which it says by 57P03.
    ///
    /// Until it has seen the end of its process it takes connections as before, and ends them then: `starts` is how often
    /// it was ready before.
    private static func recovered(_ server: PostgresServer, after starts: Int = 0) async throws {
        let words = "'ready to accept connections', 'g'"
        let question = "SELECT count(*) FROM regexp_matches(pg_read_file('\(server.folder)/log'), \(words))"
        try await until { Int(try await offPool { (try? server.sql(question)) ?? "" }) ?? 0 > starts }
        let library = try PostgresLibrary.open()
        try await onLoop { loop in
            try await until {
                do throws(PostgresError) {
                    _ = try await PostgresConnection.connect(
                        server.settings(),
                        library,
                        on: loop,
                        within: ample
                    )
                    return true
                } catch {
                    #expect(error.kind == .refused || error.kind == .unreachable)
                    if let state = error.sqlState { #expect(state == "57P03") }
                    return false
                }
            }
        }
    }

    @Test("A server process that says that it ends before the commit has carried out nothing")
    func terminated() async throws {
        let server = try await PostgresServer.shared()
        for batch in [[Self.sleep], [Self.begin, Self.sleep, Self.commit]] {
            let failure = try await Self.failure(of: batch, at: server) { process in
                try server.sql("SELECT pg_terminate_backend(\(process))")
            }
            #expect(failure.kind == .lost && failure.sqlState == "57P01" && failure.endsConnection)
            #expect(!failure.isUnknown && failure.statement == batch.count / 2)
        }
    }

    @Test(
        "A connection that ends while nobody asks says so, and is over",
        arguments: ["terminate", "restart"]
    )
    func idle(way: String) async throws {
        let server = try await way == "restart" ? PostgresServer.make() : PostgresServer.shared()
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(server.settings(), on: loop)
            let process = connection.processID
            let end = await withCheckedContinuation { continuation in
                connection.onEnd = { continuation.resume(returning: $0) }
                do {
                    try startDetachedThread("test") {
                        do {
                            if way == "restart" {
                                try server.stop(.fast)
                                try server.start()
                            } else {
                                try server.sql("SELECT pg_terminate_backend(\(process))")
                            }
                        } catch {
                            Issue.record(error)
                        }
                    }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(end.kind == .lost && end.sqlState == "57P01" && connection.isOver)
            let failure = try await connection.failure([PostgresStatement("SELECT 1")])
            #expect(failure.kind == .lost && !failure.isUnknown && failure.endsConnection)
        }
    }

    @Test(
        "An end that is said where the commit's answer is awaited leaves it unknown, one before it does not",
        arguments: [false, true]
    )
    func said(isAtCommit: Bool) async throws {
        let end = message("E", ["SFATAL", "VFATAL", "C57P01", "Mover", ""].flatMap { Array($0.utf8) + [0] })
        // The statement is prepared, bound and complete.
        let done =
            message("1", []) + message("2", []) + message("n", [])
            + message("C", Array("INSERT 0 1".utf8) + [0])
        let peer = try HostilePeer { session in
            session.greet()
            session.receive()
            session.send(isAtCommit ? done + end : end)
        }
        let library = try PostgresLibrary.open()
        let failure = try await onLoop { loop in
            let connection = try await PostgresConnection.connect(
                peer.settings,
                library,
                on: loop,
                within: ample
            )
            return try await connection.failure([PostgresStatement("INSERT")])
        }
        #expect(failure.kind == .lost && failure.sqlState == "57P01" && failure.endsConnection)
        #expect(failure.isUnknown == isAtCommit && failure.statement == (isAtCommit ? nil : 0))
    }

    @Test("A server that does not write ends the connection, and is not connected to")
    func readOnly() async throws {
        let server = try await PostgresServer.shared()
        let database = try server.makeDatabase()
        let library = try PostgresLibrary.open()
        try await onLoop { loop in
            let settings = server.settings(database: database)
            let connection = try await PostgresConnection.open(settings, on: loop)
            let failure = try await connection.failure([
                PostgresStatement("BEGIN READ ONLY"), PostgresStatement("CREATE TABLE t ()"), Self.commit,
            ])
            #expect(failure.sqlState == "25006" && failure.kind == .refused && failure.statement == 1)
            #expect(failure.endsConnection && !failure.isUnknown && connection.isOver)
            try server.sql("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            let refused = try await refusal(settings, library, on: loop)
            #expect(refused.kind == .unreachable && refused.message.contains("read-only"))
        }
    }

    @Test("The postmaster is killed, and a connection comes about again")
    func postmaster() async throws {
        let server = try await PostgresServer.make()
        let failure = try await Self.failure(of: [Self.sleep], at: server) { _ in
            try server.killPostmaster()
        }
        #expect(failure.kind == .lost && failure.endsConnection)
        try server.start()
        try await Self.recovered(server)
        try server.stop(.immediate)
        try server.start()
        try await Self.recovered(server)
    }

    @Test("One that nobody has any more leaves nobody at the server")
    func letGo() async throws {
        let server = try await PostgresServer.shared()
        try await onLoop { loop in
            let process = try await PostgresConnection.open(server.settings(), on: loop).processID
            let question = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
            let other = try await PostgresConnection.open(server.settings(), on: loop)
            try await until { try await other.run(question, [.int32(process)]).int64(0, 0) == 0 }
        }
    }

    @Test("Closing it fails what is under way, and leaves nobody at the server")
    func closing() async throws {
        let server = try await PostgresServer.shared()
        let process = try await onLoop { loop in
            let connection = LoopBound(try await PostgresConnection.open(server.settings(), on: loop), loop)
            connection.value.onEnd = { _ in Issue.record("it was closed") }
            let task = loop.spawn {
                let failure = try? await connection.value.failure([Self.sleep])
                #expect(failure?.kind == .lost && failure?.isUnknown == true)
            }
            await loop.nextIteration()
            connection.value.close()
            await task.value
            return connection.value.processID
        }
        let question = "SELECT count(*) FROM pg_stat_activity WHERE pid = \(process)"
        try blockUntil { try server.sql(question) == "0" }
    }
}
