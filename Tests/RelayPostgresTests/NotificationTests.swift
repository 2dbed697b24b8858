import PostgresTestSupport
import RelayPosix
import RelayPostgres
import Testing

@Suite("Notifications", .timeLimit(.minutes(5)))
struct NotificationTests {
    @Test("They arrive while nobody asks and while somebody does, with channel and payload")
    func arriving() async throws {
        let server = try await PostgresServer.shared()
        let settings = server.settings(database: try server.makeDatabase())
        try await onLoop { loop in
            let listener = try await PostgresConnection.open(settings, on: loop)
            let sender = try await PostgresConnection.open(settings, on: loop)
            try await listener.run("LISTEN jobs")
            let (heard, feed) = AsyncStream.makeStream(of: String.self)
            var arrivals = heard.makeAsyncIterator()
            listener.onNotification = { feed.yield("\($0): \($1)") }
            try await sender.run("NOTIFY jobs, 'route ä'")
            #expect(await arrivals.next() == "jobs: route ä")
            // Its own come with the answer.
            try await listener.run("NOTIFY jobs")
            #expect(await arrivals.next() == "jobs: ")
            try await sender.run(
                [
                    PostgresStatement("BEGIN"), PostgresStatement("NOTIFY jobs, '2'"),
                    PostgresStatement("COMMIT"),
                ],
                within: ample
            )
            #expect(await arrivals.next() == "jobs: 2")
        }
    }

    @Test("A connection may be closed by the one who hears of a notification")
    func closing() async throws {
        let server = try await PostgresServer.shared()
        let settings = server.settings(database: try server.makeDatabase())
        try await onLoop { loop in
            let listener = LoopBound(try await PostgresConnection.open(settings, on: loop), loop)
            try await listener.value.run("LISTEN jobs")
            await withCheckedContinuation { continuation in
                var isFirst = true
                listener.value.onNotification = { [unowned connection = listener.value] _, _ in
                    connection.close()
                    if isFirst { continuation.resume() }
                    isFirst = false
                }
                loop.spawn {
                    let sender = try? await PostgresConnection.open(settings, on: loop)
                    _ = try? await sender?.run(
                        [PostgresStatement("NOTIFY jobs, '1'"), PostgresStatement("NOTIFY jobs, '2'")],
                        within: ample
                    )
                }
            }
            #expect(listener.value.isOver)
        }
    }
}
