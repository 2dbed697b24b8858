import RelayKit
import RelayTestSupport
import Testing

@Suite("Waits an upstream asks for", .timeLimit(.minutes(5)))
struct RetryAfterWaitTests {
    private func bench(
        _ steps: [ScriptedTransport.Step],
        total: Duration = .seconds(30),
        honors: Bool = true
    ) throws -> ServiceBench {
        try ServiceBench(steps) {
            $0.timeouts.attempt = min(total, .seconds(10))
            $0.timeouts.total = total
            $0.recovery = [
                .backoff(
                    on: [429, 503, .redirection],
                    maxAttempts: 2,
                    Backoff(schedule: .constant(.seconds(1)), jitter: .none),
                    honorsRetryAfter: honors,
                    maxRetryAfter: .seconds(10)
                )
            ]
        }
    }

    @Test(
        "The field is read on 429, 503 and 3xx whatever its name's case, and no value of it makes anyone wait longer than the rule's cap",
        .clauses("N-06", "N-07", "X-01", "X-02", "X-05"),
        arguments: [
            ("RETRY-AFTER", "7", 7), ("rEtRy-AfTeR", "Fri, 15 Jan 2027 08:00:04 GMT", 4),
            ("Retry-After", "-3", 1), ("Retry-After", "soon", 1), ("retry-after", "3600", 10),
            ("retry-after", "99999999999999999999", 10),
            ("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", 10),
        ] as [(String, String, Int)],
        [429, 503, 307] as [UInt16]
    )
    func read(field: (name: String, value: String, seconds: Int), status: UInt16) async throws {
        let step = ScriptedTransport.Step.answer(Status(rawValue: status), [(field.name, field.value)])
        let bench = try bench([step, .answer(200)])
        #expect(await bench.run().source == .upstream && bench.transport.sent.count == 2)
        #expect(bench.time.waits == [.seconds(field.seconds)])
    }

    @Test("A rule may leave the field unread")
    func ignored() async throws {
        let bench = try bench([.answer(503, [("Retry-After", "7")]), .answer(200)], honors: false)
        _ = await bench.run()
        #expect(bench.time.waits == [.seconds(1)])
    }

    @Test(
        "A failure is marked as one for want of time only where time was wanting: for a wait past the deadline, or an answer too late",
        .clauses("N-08", "UC-16"),
        arguments: [
            ([.take(.seconds(4)), .answer(503, [("Retry-After", "6")])], true),
            ([.take(.seconds(4)), .answer(503, [("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")])], true),
            ([.take(.seconds(10)), .answer(404)], true), ([.take(.seconds(10)), .answer(200)], false),
            ([.answer(404)], false), ([.answer(503), .answer(503)], false),
        ] as [([ScriptedTransport.Step], Bool)]
    )
    func mark(steps: [ScriptedTransport.Step], isMarked: Bool) async throws {
        let bench = try bench(steps, total: .seconds(10))
        let outcome = await bench.run()
        #expect(outcome.isPastDeadline == isMarked && (outcome.failure?.isPastDeadline ?? false) == isMarked)
        #expect(outcome.failure.map { "\($0)".hasSuffix(" (no time was left)") == isMarked } ?? true)
        #expect(outcome.failure?.status == outcome.failure?.response?.status && outcome.stoppedBy == nil)
        if isMarked { #expect(bench.time.waits.isEmpty && bench.transport.sent.count == 1) }
    }

    /// The error that a program makes of a failure.
    private struct Own: FailureInitializable {
        let isPastDeadline: Bool
        init(_ failure: Failure) { isPastDeadline = failure.isPastDeadline }
    }

    @Test(
        "A program that only catches the failure sees the mark too, whatever the request makes of it",
        .clauses("N-08")
    )
    func thrownMark() async throws {
        let step = ScriptedTransport.Step.answer(503, [("Retry-After", "9")])
        let service = try bench([step, step, step], total: .seconds(5)).service
        let thrown = await #expect(throws: Failure.self) { try await service.execute(.plain()) }
        #expect(thrown?.isPastDeadline == true && thrown?.status == 503)
        let own = await #expect(throws: Own.self) {
            try await service.execute(Request.plain().throwing(Own.self))
        }
        #expect(own?.isPastDeadline == true)
        let renamed = Request.plain().throwing { _ in Failure("mine", sent: .answered, "mine") }
        let mapped = await #expect(throws: Failure.self) { try await service.execute(renamed) }
        #expect(mapped?.kind == "mine" && mapped?.isPastDeadline == true)
    }
}
