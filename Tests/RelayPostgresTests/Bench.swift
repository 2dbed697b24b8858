import PostgresTestSupport
import RelayPosix
import RelayPostgres
import Testing

/// A test's time for what does not wait for a deadline.
let ample = Duration.seconds(60)

extension PostgresConnection {
    /// A connection to the shared server with these settings.
    static func open(_ settings: PostgresSettings, on loop: EventLoop) async throws -> PostgresConnection {
        try await connect(settings, try PostgresLibrary.open(), on: loop, within: ample)
    }

    @discardableResult
    func run(_ text: String, _ parameters: [PostgresValue] = []) async throws -> PostgresResult {
        try #require(try await run([PostgresStatement(text, parameters)], within: ample).first)
    }

    /// The error of a batch that must fail.
    func failure(
        _ statements: [PostgresStatement],
        within: Duration = ample
    ) async throws -> PostgresError {
        do throws(PostgresError) {
            _ = try await run(statements, within: within)
        } catch {
            return error
        }
        throw NoFailure()
    }
}

/// The error of a connection that must not come about.
func refusal(
    _ settings: PostgresSettings,
    _ library: PostgresLibrary,
    on loop: EventLoop,
    within: Duration = ample
) async throws -> PostgresError {
    do throws(PostgresError) {
        _ = try await PostgresConnection.connect(settings, library, on: loop, within: within)
    } catch {
        return error
    }
    throw NoFailure()
}

struct NoFailure: Error {}
