import RelayPosix
import RelayPostgres
import Synchronization

/// A clock of the database that stands still but for the test.
final class DatabaseClock: Sendable {
    private let loop: EventLoop
    private let connection: LoopBound<PostgresConnection>
    private let schema: String
    private let known: Mutex<Int64>

    init(_ settings: PostgresSettings, _ library: PostgresLibrary, at time: Int64) async throws {
        let loop = try EventLoop.start(name: "clock")
        self.loop = loop
        schema = settings.schema
        known = Mutex(time)
        let made: Result<LoopBound<PostgresConnection>, PostgresError> = await withCheckedContinuation {
            continuation in
            loop.spawn {
                do throws(PostgresError) {
                    let connection = try await PostgresConnection.connect(
                        settings,
                        library,
                        on: loop,
                        within: .seconds(30)
                    )
                    _ = try await connection.run(
                        [
                            PostgresStatement(
                                "CREATE TABLE \"\(settings.schema)\".clock AS SELECT \(time)::bigint AS time"
                            )
                        ],
                        within: .seconds(30)
                    )
                    continuation.resume(returning: .success(LoopBound(connection, loop)))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        connection = try made.get()
    }

    /// The time, as a statement asks for it.
    var expression: String { "(SELECT time FROM \"\(schema)\".clock)" }

    var time: Int64 { known.withLock { $0 } }

    func set(_ time: Int64) async throws {
        try await run("UPDATE \"\(schema)\".clock SET time = \(time)")
        known.withLock { $0 = time }
    }

    /// Takes the schema away with all that is in it.
    func end() async {
        _ = try? await run("DROP SCHEMA \"\(schema)\" CASCADE")
        let connection = connection
        loop.execute { connection.value.close() }
        loop.stop()
    }

    private func run(_ text: String) async throws {
        let connection = connection
        let result: Result<Void, PostgresError> = await withCheckedContinuation { continuation in
            loop.spawn {
                do throws(PostgresError) {
                    _ = try await connection.value.run([PostgresStatement(text)], within: .seconds(30))
                    continuation.resume(returning: .success(()))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        try result.get()
    }
}
