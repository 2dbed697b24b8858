import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A program's code does not decide how far a request got", .timeLimit(.minutes(5)))
struct ForgedVerdictTests {
    private static let lie = Failure("quota", sent: .neverSent, "as if nothing had been sent", status: 404)
    private static let lost = ScriptedTransport.Step.fail(.connectionReadTimeout, .unknown)

    private static func request(
        _ method: Method = .post,
        key: String? = nil,
        _ change: (inout PlainRequest<HTTPResponse>) -> Void = { _ in }
    ) -> PlainRequest<HTTPResponse> {
        var request = Request.plain(method)
        if let key { request = request.addingHeaders(["Idempotency-Key": key]) }
        change(&request)
        return request
    }

    private static func keys(_ key: @escaping @Sendable (Int) -> String) -> Prepare {
        .changing { request, context in request.fields.set("Idempotency-Key", key(context.attempt)) }
    }

    /// A request with code that says something else of its first attempt than the transport.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: PlainRequest<HTTPResponse>
        let step: ScriptedTransport.Step
        let sent: Sent
        let sends: Int
        let end: FailureKind?
    }

    static let rows: [Row] = {
        let documented = request { $0.errorDocument = ErrorDocument { _ in lie } }
        let renamed = request { $0.classify = { _ in lie } }
        let validated = request { $0.successValidator = { _ in throw lie } }
        let transforming = PlainRequest<HTTPResponse>(HTTPRequest(method: .post, target: "x")) { _ in
            throw lie
        }
        let posting = request(.get) {
            $0.preparation = [Prepare.changing { request, _ in request.method = .post }]
        }
        let steady = request { $0.preparation = [keys { _ in "steady" }] }
        let changing = request(key: "a") { $0.preparation = [keys { "k\($0)" }] }
        func row(
            _ name: String,
            _ request: PlainRequest<HTTPResponse>,
            _ step: ScriptedTransport.Step,
            _ sent: Sent,
            _ sends: Int,
            _ end: FailureKind? = nil
        ) -> Row {
            Row(testDescription: name, request: request, step: step, sent: sent, sends: sends, end: end)
        }
        return [
            row("document, 200", documented, .answer(200), .answered, 1),
            row("document, 500", documented, .answer(500), .answered, 1),
            row("document, 409", documented, .answer(409), .refused, 2),
            row("document, 503", documented, .answer(503, [("Retry-After", "1")]), .refused, 2),
            row("validator", validated, .answer(200), .answered, 1),
            row("transform", transforming, .answer(200), .answered, 1),
            row("name, 500", renamed, .answer(500), .answered, 1),
            row("name, 422", renamed, .answer(422), .refused, 2),
            row("name, lost", renamed, lost, .unknown, 1),
            row("a GET made a POST", posting, lost, .unknown, 1),
            row("a steady key", steady, lost, .unknown, 2),
            row("another key each time", changing, lost, .unknown, 1, .preparation),
        ]
    }()

    @Test(
        "The answer's status says what was carried out, whatever a program's code makes of it",
        .clauses("N-09"),
        arguments: rows
    )
    func program(row: Row) async throws {
        let bench = try ServiceBench([row.step, .answer(200)]) {
            $0.recovery = [.advice { _, request, _ in .retry(request, after: .zero) }]
            $0.maxAttempts = 2
        }
        let outcome = await bench.run(row.request)
        #expect(outcome.attempts.first?.failure?.sent == row.sent)
        #expect(bench.transport.sent.count == row.sends)
        if let end = row.end { #expect(outcome.failure?.kind == end) }
    }

    @Test("An answer that a program's code says was never sent costs an attempt all the same")
    func answered() async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [.backoff(on: [.any], maxAttempts: 50, methods: .any)]
                $0.maxAttempts = 2
            },
            answer: { _ in .answer(200) }
        )
        _ = await bench.run(Self.request { $0.successValidator = { _ in throw Self.lie } })
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A failed preparation stays one, whatever it is called, and is not made twice")
    func unprepared() async throws {
        struct Broken: Error {}
        let runs = Mutex(0)
        let request = Self.request(.get) {
            $0.preparation = [
                Prepare(.attempt) { _, _ in
                    runs.withLock { $0 += 1 }
                    throw Broken()
                }
            ]
            $0.classify = { Failure("mine", sent: $0.sent, $0.detail) }
        }
        let bench = try ServiceBench([.answer(200)]) { $0.recovery = [.again()] }
        _ = await bench.run(request)
        #expect(bench.transport.sent.isEmpty && runs.withLock { $0 } == 1)
    }

    @Test(
        "A strategy that gives the request another key repeats nothing whose outcome is unknown, however it goes on",
        arguments: [
            ([], .outcomeUnknown), ([.fail(.connectionRefused, .neverSent)], .outcomeUnknown),
            ([.answer(429)], .outcomeUnknown), ([.answer(500)], .mayHaveActed),
        ] as [([ScriptedTransport.Step], HeldBack.Reason)]
    )
    func strategysKey(repetitions: [ScriptedTransport.Step], held: HeldBack.Reason) async throws {
        let sends = 1 + repetitions.count
        let bench = try ServiceBench([Self.lost] + repetitions + [.answer(200)]) {
            $0.recovery = [
                .advice { _, request, context in
                    .retry(request) {
                        if context.attempt == sends { $0.fields.set("Idempotency-Key", "other") }
                    }
                }
            ]
        }
        let outcome = await bench.run(Self.request(key: "a"))
        #expect(bench.transport.sent.count == sends)
        #expect(outcome.failure?.sent == (held == .outcomeUnknown ? .unknown : .answered))
        #expect(outcome.attempts.last?.heldBack.map(\.reason) == [held])
    }

    @Test(
        "The caller's key goes out under the name that the upstream looks for, and under no other",
        arguments: [nil, "its own"]
    )
    func named(own: String?) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.idempotency.header = "X-Request-Key"
            $0.idempotency.generates = true
            $0.recovery = [.again()]
        }
        let request = Self.request(key: "a") {
            if let own { $0 = $0.addingHeaders(["X-Request-Key": own]) }
        }
        _ = await bench.run(request)
        let name = try #require(FieldName("x-request-key"))
        #expect(bench.transport.sent.map { $0.allFields.values(name) } == [[own ?? "a"], [own ?? "a"]])
        #expect(bench.transport.sent.allSatisfy { !$0.allFields.contains(.idempotencyKey) })
    }

    @Test("A Retry-After counts on every answer, also on a success that was found to be none")
    func retryAfter() async throws {
        let bench = try ServiceBench([.answer(200, [("Retry-After", "10")]), .answer(200)]) {
            $0.recovery = [.again()]
        }
        let request = Self.request(.get) {
            $0.successValidator = { if $0.response.fields.contains(.retryAfter) { throw Self.lie } }
        }
        _ = await bench.run(request)
        #expect(bench.time.waits == [.seconds(10)])
    }

    @Test("Nothing is sent when the job has no time at all")
    func noTime() async throws {
        let bench = try ServiceBench([.answer(200)])
        let outcome = await bench.run(Self.request { $0.options.timeout = .zero })
        #expect(bench.transport.sent.isEmpty && outcome.failure?.kind == .deadlineExceeded)
    }

    @Test("A job whose last attempt was never sent tells what became of the one before it")
    func furthest() async throws {
        let bench = try ServiceBench([Self.lost, .fail(.connectionRefused, .neverSent)]) {
            $0.recovery = [.backoff(on: [.any], maxAttempts: 2, methods: .any)]
        }
        let outcome = await bench.run(.plain(.post))
        #expect(outcome.failure?.kind == .connectionRefused && outcome.failure?.sent == .unknown)
    }
}
