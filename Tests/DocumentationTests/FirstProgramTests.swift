import RelayKit
import RelayTesting
import Synchronization
import Testing

@Suite("The first program does what its article says", .timeLimit(.minutes(1)))
struct FirstProgramTests {
    @Test("Every step is told, and a token that has expired is replaced")
    func steps() async throws {
        let lines = Mutex<[String]>([])
        let grants = Mutex(0)
        let script = ScriptedTransport(
            .answer(503),
            .answer(200, [:], #"{"name": "Emma"}"#),
            .answer(200, [:], #"{"name": "Emma"}"#)
        )
        let time = VirtualTime()
        let titles = try service(
            script,
            .titles(),
            time: time,
            credentials: [
                .expiring {
                    grants.withLock { count in
                        count += 1
                        return Grant(token: "t\(count)", lifetime: 3600)
                    }
                }
            ],
            preparation: [jobField],
            observers: [Narrator { line in lines.withLock { $0.append(line) } }]
        )
        let outcome = await titles.outcome(of: PlainRequest<HTTPResponse>(.get, "/titles/7"))
        #expect(
            lines.withLock { $0 } == [
                "attempt 1 goes to upstream",
                "attempt 1 was answered: 503 Service Unavailable [] no content",
                "attempt 1 to upstream: 503 Service Unavailable, http_status, backoff: retry",
                "attempt 2 goes to upstream",
                "attempt 2 was answered: 200 OK [] 16 bytes",
                "job \(outcome.id) is done",
            ]
        )
        let field = try #require(FieldName("X-Job"))
        #expect(script.sent.map { $0[field] } == [outcome.id, outcome.id])
        #expect(script.sent.map(\.target) == ["/api/titles/7", "/api/titles/7"])
        #expect(
            script.sent.map(\.upstream.origin.text) == ["http://127.0.0.1:9000", "http://127.0.0.1:9000"]
        )
        try await time.sleep(until: time.now().advanced(by: .seconds(3600)))
        _ = await titles.outcome(of: PlainRequest<HTTPResponse>(.get, "titles/7"))
        #expect(script.sent.map { $0[.authorization] } == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }
}
