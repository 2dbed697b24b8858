import PostgresTestSupport
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("A commit that waits for a standby", .timeLimit(.minutes(5)))
struct CommitTests {
    private static let insert = PostgresStatement("INSERT INTO t VALUES (1)")
    private static let batches = [
        [insert], [PostgresStatement("BEGIN"), insert, PostgresStatement("COMMIT")],
    ]

    /// A server with a table `t`, whose commits wait for a standby that there is not.
    private static func server() async throws -> PostgresServer {
        let server = try await PostgresServer.make()
        try server.sql("CREATE TABLE t (n int8)")
        try server.waitForStandby()
        return server
    }

    /// Runs a batch, and a function of the server with the process whose commit waits.
    private static func run(
        _ batch: [PostgresStatement],
        at server: PostgresServer,
        _ function: String
    ) async throws -> Result<[PostgresResult], PostgresError> {
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(server.settings(), on: loop)
            let process = connection.processID
            try startDetachedThread("test") {
                let waiting = "pg_stat_activity WHERE pid = \(process) AND wait_event = 'SyncRep'"
                recording {
                    try blockUntil { (try? server.sql("SELECT \(function)(pid) FROM \(waiting)")) == "t" }
                }
            }
            do throws(PostgresError) {
                return .success(try await connection.run(batch, within: ample))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test("The warning that the standby was given up stands in the last result")
    func givenUp() async throws {
        let server = try await Self.server()
        for batch in Self.batches {
            let results = try await Self.run(batch, at: server, "pg_cancel_backend").get()
            #expect(results.map(\.hasWarning) == batch.indices.map { $0 == batch.count - 1 })
        }
        #expect(try server.sql("SELECT count(*) FROM t") == "2")
    }

    @Test("A connection that ends meanwhile leaves the batch unknown, which was carried out")
    func ended() async throws {
        let server = try await Self.server()
        for batch in Self.batches {
            let result = try await Self.run(batch, at: server, "pg_terminate_backend")
            let error = #expect(throws: PostgresError.self) { try result.get() }
            #expect(error?.kind == .lost && error?.isUnknown == true && error?.endsConnection == true)
        }
        #expect(try server.sql("SELECT count(*) FROM t") == "2")
    }
}
