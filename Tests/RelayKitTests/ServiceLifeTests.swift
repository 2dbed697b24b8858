import RelayKit
import RelayTestSupport
import Testing

@Suite("A service while its jobs run", .closedRunQueue, .timeLimit(.minutes(5)))
struct ServiceLifeTests {
    @Test(
        "Jobs under way are counted exactly, and no longer when they fail or are cancelled",
        .clauses("T-30", "X-09")
    )
    func inFlight() async throws {
        let bench = try ServiceBench([], mode: .manual) { request in
            request.target.hasSuffix("held") ? .hold : .fail(.connectionRefused, .neverSent)
        }
        for _ in 0..<3 { #expect(await bench.run().source == nil) }
        #expect(bench.service.inFlight == 0)
        let jobs = (0..<50).map { _ in
            Task { await bench.run(Request(.get, "held")) }
        }
        await untilIdle()
        #expect(bench.service.inFlight == 50)
        _ = await bench.run()
        #expect(bench.service.inFlight == 50)
        for job in jobs { job.cancel() }
        for job in jobs { _ = await job.joined() }
        #expect(bench.service.inFlight == 0)
    }

    @Test(
        "A job that could not be prepared, or whose strategy stops it, is over too",
        .clauses("T-30", "X-09")
    )
    func overWithoutSend() async throws {
        let bench = try ServiceBench(
            [.answer(500)],
            policy: { $0.recovery = [.advice { failure, _, _ in .stop(failure) }] },
            preparation: [
                Prepare(.job) { request, _ in
                    if request.target == "odd" { throw Problem(code: "odd") }
                    return request
                }
            ]
        )
        _ = await bench.run(Request(.get, "odd"))
        _ = await bench.run()
        #expect(bench.service.inFlight == 0 && bench.transport.sent.count == 1)
    }

    @Test("Two services know nothing of each other", .clauses("X-15"))
    func independent() async throws {
        let patient = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.recovery = [.backoff(maxAttempts: 5)]
                // The jobs share a clock that every wait moves.
                $0.timeouts.total = .seconds(3600)
                $0.timeouts.attempt = .seconds(3600)
            },
            answer: { _ in .answer(503) }
        )
        let quick = try ServiceBench([], policy: { $0.traffic = .off }, answer: { _ in .answer(503) })
        await withTaskGroup(of: Void.self) { group in
            for bench in [patient, quick] {
                for _ in 0..<20 { group.addTask { _ = await bench.run() } }
            }
        }
        #expect(patient.transport.sent.count == 100 && quick.transport.sent.count == 20)
    }

    @Test(
        "A base that is no URL is refused in words; nothing traps",
        .clauses("X-16"),
        arguments: [
            "", "one.example", "https://", "https:///x", "ftp://one.example", "https://a b/",
            "https://one.example:99999/", "https://u@one.example/", "https://one.example/?q",
            "https://one.example/#f", "https://[::1/", "http://\u{0}/",
        ]
    )
    func urls(text: String) {
        #expect(throws: Refusal.self) { try Upstream(text) }
    }
}
