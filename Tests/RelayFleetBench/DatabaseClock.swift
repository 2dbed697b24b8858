import RelayPostgres
import Synchronization

/// A clock of the database that stands still but for the test.
final class DatabaseClock: Sendable {
    private let connection: SideConnection
    private let schema: String
    private let known: Mutex<Int64>

    init(_ settings: PostgresSettings, _ library: PostgresLibrary, at time: Int64) async throws {
        schema = settings.schema
        known = Mutex(time)
        connection = try await SideConnection(settings, library)
        try await connection.run("CREATE TABLE \"\(schema)\".clock AS SELECT \(time)::bigint AS time")
    }

    /// The time, as a statement asks for it.
    var expression: String { "(SELECT time FROM \"\(schema)\".clock)" }

    var time: Int64 { known.withLock { $0 } }

    func set(_ time: Int64) async throws {
        try await connection.run("UPDATE \"\(schema)\".clock SET time = \(time)")
        known.withLock { $0 = time }
    }

    /// Takes the schema away with all that is in it.
    func end() async {
        _ = try? await connection.run("DROP SCHEMA \"\(schema)\" CASCADE")
        connection.end()
    }
}
