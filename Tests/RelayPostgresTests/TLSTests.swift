import PostgresTestSupport
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Synchronization
import Testing

@Suite("The way to the server, protected", .timeLimit(.minutes(5)))
struct TLSTests {
    /// A library for which every name leads to the loopback interface.
    private static func library() throws -> PostgresLibrary {
        let loopback = IPAddress(v4: 0x7F00_0001)
        return try PostgresLibrary.open(resolver: NameResolver(source: { _ in .success([loopback]) }))
    }

    /// Settings for the shared server's port, with a user that has a password.
    private static func settings(
        _ host: String,
        _ tls: PostgresTLS = .automatic
    ) async throws -> PostgresSettings {
        let server = try await PostgresServer.shared()
        let user = try server.makeUser(password: "p\(host)")
        return PostgresSettings(
            host: host,
            port: server.port,
            database: "postgres",
            user: user,
            password: { "p\(host)" },
            schema: "public",
            tls: tls
        )
    }

    private static func isEncrypted(_ settings: PostgresSettings) async throws -> Bool? {
        let library = try library()
        return try await onLoop { loop in
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            let question = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            return try await connection.run(question).bool(0, 0)
        }
    }

    private static func refused(_ settings: PostgresSettings) async throws -> PostgresError {
        let library = try library()
        return try await onLoop { loop in try await refusal(settings, library, on: loop) }
    }

    @Test("Off for the loopback interface and what is called so, and verified for every other name")
    func automatic() async throws {
        #expect(try await Self.isEncrypted(Self.settings("127.0.0.1")) == false)
        #expect(try await Self.isEncrypted(Self.settings("localhost")) == false)
        let authority = try await PostgresServer.shared().certificates.authority
        let verified = PostgresTLS(authorityFile: authority)
        #expect(try await Self.isEncrypted(Self.settings(ServerCertificates.name, verified)) == true)
        // The system's authorities do not know the server's.
        let error = try await Self.refused(Self.settings(ServerCertificates.name))
        #expect(error.kind == .unreachable && error.message.contains("certificate verify failed"))
    }

    @Test("A certificate of another authority, or for another name, is refused")
    func wrong() async throws {
        let server = try await PostgresServer.shared()
        let other = try ServerCertificates(in: server.folder, "other")
        let byOther = PostgresTLS(.verified, authorityFile: other.authority)
        let error = try await Self.refused(Self.settings(ServerCertificates.name, byOther))
        #expect(error.message.contains("certificate verify failed"))
        let right = PostgresTLS(.verified, authorityFile: server.certificates.authority)
        for host in ["other.test", "127.0.0.1"] {
            let error = try await Self.refused(Self.settings(host, right))
            #expect(error.kind == .unreachable && error.message.contains("does not match host name"))
        }
        let missing = PostgresTLS(.verified, authorityFile: "/nonexistent/authority")
        let none = try await Self.refused(Self.settings(ServerCertificates.name, missing))
        #expect(none.message.contains("/nonexistent/authority"))
    }

    @Test("Where nobody is to be verified it is encrypted all the same, and off is off")
    func modes() async throws {
        #expect(try await Self.isEncrypted(Self.settings("other.test", PostgresTLS(.unverified))) == true)
        #expect(try await Self.isEncrypted(Self.settings("other.test", PostgresTLS(.off))) == false)
    }

    @Test("Large answers come whole through TLS, what its library holds included")
    func large() async throws {
        let library = try Self.library()
        let settings = try await Self.settings("other.test", PostgresTLS(.unverified))
        try await onLoop { loop in
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            for size in [1, 8_000, 16_300, 16_384, 20_000, 100_000, 3_000_000] {
                let body = [UInt8](repeating: 7, count: size)
                let results = try await connection.run(
                    (0..<3).map { _ in PostgresStatement("SELECT $1::bytea", [.bytes(body)]) },
                    within: ample
                )
                #expect(results.map { $0.bytes(0, 0) } == [body, body, body])
            }
        }
    }

    @Test("A password that was rotated takes effect at the next connection, and no error tells it")
    func rotated() async throws {
        let server = try await PostgresServer.shared()
        let library = try Self.library()
        let password = Password("first-secret")
        var settings = try await Self.settings("127.0.0.1")
        settings.user = try server.makeUser(password: "first-secret")
        settings.password = { password.text }
        try await onLoop { [settings] loop in
            let first = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            try server.sql("ALTER ROLE \(settings.user) PASSWORD 'second-secret'")
            #expect(try await first.run("SELECT 1").count == 1)
            let error = try await refusal(settings, library, on: loop)
            #expect(error.kind == .refused && error.sqlState == "28P01" && error.endsConnection)
            #expect(error.message.contains(settings.user) && !error.message.contains("secret"))
            password.set("second-secret")
            let second = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            #expect(try await second.run("SELECT 1").count == 1)
        }
    }

    @Test("A database or a server that is not there, or a name without an address, is named")
    func absent() async throws {
        var settings = try await Self.settings("127.0.0.1")
        settings.database = "nothing"
        let database = try await Self.refused(settings)
        #expect(database.sqlState == "3D000" && database.kind == .refused)
        settings.port = 1
        let port = try await Self.refused(settings)
        #expect(port.kind == .unreachable && port.message.contains("127.0.0.1:1"))
        settings.host = "db.test"
        let library = try PostgresLibrary.open(resolver: NameResolver(source: { _ in .failure(.notFound) }))
        let name = try await onLoop { [settings] loop in try await refusal(settings, library, on: loop) }
        #expect(
            name.kind == .unreachable && name.message == "cannot look up db.test: the name does not exist"
        )
    }

    @Test(
        "A name that leads to several addresses is tried at each, and one that nobody answers for has its time"
    )
    func addresses() async throws {
        // The server listens on one address of the loopback interface alone.
        let dead = IPAddress(v4: 0x7F00_0009)
        let library = try PostgresLibrary.open(
            resolver: NameResolver(source: { _ in .success([dead, IPAddress(v4: 0x7F00_0001)]) })
        )
        let settings = try await Self.settings("other.test", PostgresTLS(.unverified))
        let count = try await onLoop { loop in
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            return try await connection.run("SELECT 1").count
        }
        #expect(count == 1)
        let gate = Semaphore()
        defer { gate.signal() }
        let silent = try PostgresLibrary.open(
            resolver: NameResolver(source: { _ in
                gate.wait()
                return .failure(.notFound)
            })
        )
        let late = try await onLoop { loop in
            try await refusal(settings, silent, on: loop, within: .milliseconds(100))
        }
        #expect(late.kind == .timeout && late.message == "other.test was not looked up within 100ms")
    }
}

private final class Password: Sendable {
    private let value: Mutex<String>

    init(_ text: String) { value = Mutex(text) }

    var text: String { value.withLock { $0 } }

    func set(_ text: String) { value.withLock { $0 = text } }
}
