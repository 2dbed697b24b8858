import RelayPosix
import RelayPostgres

/// A connection of the test's own, beside those of the nodes: no program has to be started for a statement.
package final class SideConnection: Sendable {
    private let loop: EventLoop
    private let connection: LoopBound<PostgresConnection>

    init(_ settings: PostgresSettings, _ library: PostgresLibrary) async throws {
        var settings = settings
        settings.applicationName = "test"
        let (own, loop) = (settings, try EventLoop.start(name: "side"))
        self.loop = loop
        let made: Result<LoopBound<PostgresConnection>, PostgresError> = await withCheckedContinuation {
            continuation in
            loop.spawn {
                do throws(PostgresError) {
                    let connection = try await PostgresConnection.connect(
                        own,
                        library,
                        on: loop,
                        within: .seconds(30)
                    )
                    continuation.resume(returning: .success(LoopBound(connection, loop)))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        connection = try made.get()
    }

    /// - Returns: the first value of the first row.
    @discardableResult
    package func run(_ text: String) async throws -> Int64? {
        // A test waits by asking until its time is over.
        try Task.checkCancellation()
        let connection = connection
        let result: Result<Int64?, PostgresError> = await withCheckedContinuation { continuation in
            loop.spawn {
                do throws(PostgresError) {
                    let results = try await connection.value.run(
                        [PostgresStatement(text)],
                        within: .seconds(30)
                    )
                    continuation.resume(returning: .success(results[0].int64(0, 0)))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        return try result.get()
    }

    package func end() {
        let connection = connection
        loop.execute { connection.value.close() }
        loop.stop()
    }
}
