import Glibc
import PostgresTestSupport
import RelayPosix
import RelayPostgres
import Testing

@Suite("The environment", .timeLimit(.minutes(5)))
struct EnvironmentTests {
    /// Every variable that libpq 15 reads, with a value that would lead elsewhere or to nowhere.
    private static let variables = [
        ("PGHOST", "/nonexistent"), ("PGHOSTADDR", "192.0.2.1"), ("PGPORT", "1"), ("PGDATABASE", "elsewhere"),
        ("PGUSER", "somebody"), ("PGPASSWORD", "wrong"), ("PGPASSFILE", "/nonexistent/pass"),
        ("PGCHANNELBINDING", "require"), ("PGSERVICE", "elsewhere"),
        ("PGSERVICEFILE", "/nonexistent/service"),
        ("PGSYSCONFDIR", "/nonexistent"), ("PGLOCALEDIR", "/nonexistent"), ("PGOPTIONS", "-c nothing=1"),
        ("PGAPPNAME", "elsewhere"), ("PGSSLMODE", "verify-full"), ("PGREQUIRESSL", "1"),
        ("PGSSLCOMPRESSION", "1"), ("PGSSLCERT", "/nonexistent/cert"), ("PGSSLKEY", "/nonexistent/key"),
        ("PGSSLROOTCERT", "/nonexistent/root"), ("PGSSLCRL", "/nonexistent/crl"),
        ("PGSSLCRLDIR", "/nonexistent/crls"), ("PGSSLSNI", "0"), ("PGREQUIREPEER", "somebody"),
        ("PGSSLMINPROTOCOLVERSION", "nothing"), ("PGSSLMAXPROTOCOLVERSION", "nothing"),
        ("PGGSSENCMODE", "require"), ("PGKRBSRVNAME", "elsewhere"), ("PGGSSLIB", "gssapi"),
        ("PGCONNECT_TIMEOUT", "nothing"), ("PGCLIENTENCODING", "nothing"),
        ("PGTARGETSESSIONATTRS", "standby"), ("PGDATESTYLE", "German"), ("PGTZ", "Asia/Tokyo"),
        ("PGGEQO", "off"), ("PGREALM", "elsewhere"),
    ]

    @Test(
        "No variable of PostgreSQL has a say, pooled or not, and all others stay",
        arguments: [false, true]
    )
    func variables(isPooled: Bool) async throws {
        let server = try await PostgresServer.shared()
        // A child of its own, since variables belong to the process.
        await #expect(processExitsWith: .success) {
            [folder = server.folder as String, port = server.port as Int, isPooled = isPooled as Bool] in
            for (name, value) in EnvironmentTests.variables { unsafe setenv(name, value, 1) }
            unsafe setenv("WAYSTATION_TEST", "kept", 1)
            let library = try PostgresLibrary.open()
            #expect(EnvironmentTests.variables.filter { environment($0.0) != nil }.isEmpty)
            #expect(environment("WAYSTATION_TEST") == "kept")
            let settings = PostgresSettings(
                host: folder,
                port: port,
                database: "postgres",
                user: "relay",
                schema: "public",
                isPooled: isPooled
            )
            try await onLoop { loop in
                let connection = try await PostgresConnection.connect(
                    settings,
                    library,
                    on: loop,
                    within: ample
                )
                let result = try await connection.run(
                    """
                    SELECT current_setting('application_name'), current_setting('TimeZone'),
                    current_setting('DateStyle'), current_setting('geqo'), current_setting('client_encoding')
                    """
                )
                let told = (0..<5).map { result.text(0, $0) ?? "" }
                try #require(told[0] == "waystation" && !told[1].contains("Tokyo"))
                try #require(!told[2].contains("German") && told[3] == "on" && told[4] == "UTF8")
            }
        }
    }
}
