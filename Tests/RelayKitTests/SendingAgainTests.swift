import RelayKit
import RelayTestSupport
import Testing

@Suite("Sending again", .timeLimit(.minutes(5)))
struct SendingAgainTests {
    private static func every(
        _ wait: Duration,
        _ maxAttempts: Int,
        on matcher: FailureMatcher = [.any]
    ) -> RecoveryRule {
        .backoff(on: matcher, maxAttempts: maxAttempts, Backoff(schedule: .constant(wait), jitter: .none))
    }

    @Test(
        "A success is sent once, without a wait, and untouched",
        .clauses("UC-07", "UC-11", "T-122", "T-126")
    )
    func success() async throws {
        let bench = try ServiceBench([.answer(201, [("X-A", "b")], "as it is"), .answer(200)]) {
            $0.recovery = [Self.every(.seconds(3), 4)]
        }
        let answer = try await bench.service.execute(Request(.get, "x"))
        #expect(answer.status == 201 && answer.words == "as it is" && answer.fields.count == 1)
        #expect(bench.transport.sent.count == 1 && bench.time.waits == [])
    }

    @Test(
        "Three retries are four sends, and the last failure is the caller's",
        .clauses("UC-09", "UC-10", "T-120", "T-122", "T-126"),
        arguments: [0, 1, 3, 9]
    )
    func retries(count: Int) async throws {
        let bench = try ServiceBench((0..<20).map { .answer(Status(rawValue: 500 + $0)) }) {
            $0.recovery = [Self.every(.seconds(2), count + 1)]
        }
        let outcome = await bench.service.outcome(of: Request<HTTPResponse>(.get, "x"))
        #expect(bench.transport.sent.count == count + 1 && outcome.attempts.count == count + 1)
        #expect(outcome.endedWith?.status?.rawValue == UInt16(500 + count) && outcome.gave == nil)
        // The first goes out at once; there is a wait before each of the others.
        #expect(outcome.attempts[0].beganAt == 1_800_000_000_000)
        #expect(bench.time.waits == Array(repeating: .seconds(2), count: count))
    }

    @Test("A transport that fails always is asked as often as the rule says", .clauses("T-120", "T-127"))
    func unreachable() async throws {
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [Self.every(.zero, 4)] },
            answer: { _ in
                .fail(.connectionRefused, .neverSent)
            }
        )
        let outcome = await bench.service.outcome(of: Request<HTTPResponse>(.get, "x"))
        #expect(bench.transport.sent.count == 4 && outcome.endedWith?.kind == .connectionRefused)
    }

    @Test("Each wait is drawn anew", .clauses("UC-11"))
    func jitter() async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                $0.timeouts.total = .seconds(600)
                $0.recovery = [
                    .backoff(
                        on: [.any],
                        maxAttempts: 9,
                        Backoff(schedule: .constant(.seconds(4)), jitter: .full)
                    )
                ]
            },
            answer: { _ in .answer(500) }
        )
        _ = await bench.service.outcome(of: Request<HTTPResponse>(.get, "x"))
        #expect(bench.time.waits.count == 8 && Set(bench.time.waits).count == 8)
        #expect(bench.time.waits.allSatisfy { $0 >= .zero && $0 <= .seconds(4) })
    }

    @Test("Everything of an attempt is done again, and what follows the outcome once", .clauses("UC-08"))
    func above() async throws {
        let chronicle = Chronicle()
        var request = Request(HTTPRequest(method: .get, target: "x")) { success in
            chronicle.note("read")
            if success.response.words != "good" { throw Misshapen(wanted: "good") }
            return success.response.words
        }
        request.preparation = [
            Prepare(.job) { request, _ in
                chronicle.note("job")
                return request
            },
            Prepare(.attempt) { request, _ in
                chronicle.note("prepare")
                return request
            },
        ]
        request.successValidator = { _ in chronicle.note("validate") }
        request = request.map { value in
            chronicle.note("map")
            return value
        }
        let bench = try ServiceBench([.answer(500), .answer(200, [], "bad"), .answer(200, [], "good")]) {
            $0.recovery = [Self.every(.zero, 4)]
        }
        #expect(try await bench.service.execute(request) == "good")
        let attempt = ["prepare", "validate", "read"]
        #expect(chronicle.entries == ["job", "prepare"] + attempt + attempt + ["map"])
    }

    @Test(
        "A rule's matcher decides what is sent again, not its place before or after a check",
        .clauses("UC-12", "UC-14"),
        arguments: [
            (.fail(.connectionRefused, .neverSent), [true, false, false]),
            (.answer(503), [false, true, false]),
            (.answer(404), [false, false, false]), (.answer(200, [], "<"), [false, false, true]),
        ] as [(ScriptedTransport.Step, [Bool])]
    )
    func position(step: ScriptedTransport.Step, repeated: [Bool]) async throws {
        let matchers: [FailureMatcher] = [[.connection], [.serverError], [.kind(.decoding)]]
        for (matcher, isRepeated) in zip(matchers, repeated) {
            let bench = try ServiceBench([step, .answer(200, [], #"{"title":"T"}"#)]) {
                $0.recovery = [Self.every(.zero, 2, on: matcher)]
            }
            let outcome = await bench.service.outcome(of: Request<Book>(.get, "x", decoder: ShapeCoder()))
            #expect((outcome.gave?.title == "T") == isRepeated)
            #expect(bench.transport.sent.count == (isRepeated ? 2 : 1))
        }
    }

    @Test(
        "204 is a success unless the policy wants exactly 200",
        .clauses("UC-13"),
        arguments: [(204, nil), (200, 1), (204, 1)] as [(UInt16, Int?)]
    )
    func exactly(status: UInt16, isStrict: Int?) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: status))]) {
            if isStrict != nil { $0.success.statuses = StatusSet(codes: [200]) }
        }
        let outcome = await bench.service.outcome(of: Request<Void>(.get, "x"))
        #expect((outcome.endedWith == nil) == (isStrict == nil || status == 200))
    }

    @Test(
        "A request that may have arrived is sent again only when that is safe",
        .clauses("UC-15", "N-09"),
        arguments: [
            ("GET", Sent.unknown, false, RepeatableMethods.idempotentOrKeyed, 2),
            ("PUT", .unknown, false, .idempotent, 2),
            ("POST", .unknown, false, .idempotentOrKeyed, 1),
            ("PATCH", .unknown, false, .idempotentOrKeyed, 1),
            ("POST", .neverSent, false, .idempotentOrKeyed, 2),
            ("POST", .unknown, true, .idempotentOrKeyed, 2),
            ("POST", .unknown, true, .idempotent, 1), ("POST", .unknown, false, .any, 2),
        ]
    )
    func safety(
        method: String,
        sent: Sent,
        isRepeatable: Bool,
        methods: RepeatableMethods,
        sends: Int
    ) async throws {
        let bench = try ServiceBench([.fail(.connectionTerminated, sent), .answer(200)]) {
            $0.recovery = [.backoff(on: [.any], methods: methods)]
        }
        var request = Request<HTTPResponse>(Method(rawValue: method), "x")
        request.options.isRepeatable = isRepeatable
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == sends)
        #expect((outcome.attempts[0].heldBack.map(\.reason) == [.outcomeUnknown]) == (sends == 1))
    }

    @Test(
        "The time of the whole job beats the count of retries, and running out of it is a failure",
        .clauses("UC-16", "T-121", "X-17")
    )
    func overallTimeout() async throws {
        for isOfTheRequest in [true, false] {
            let bench = try ServiceBench(
                [],
                policy: {
                    if !isOfTheRequest {
                        ($0.timeouts.attempt, $0.timeouts.total) = (.seconds(5), .seconds(5))
                    }
                    $0.recovery = [Self.every(.seconds(2), 6)]
                },
                answer: { _ in .answer(500) }
            )
            var request = Request<HTTPResponse>(.get, "x")
            if isOfTheRequest { request.options.timeout = .seconds(5) }
            let outcome = await bench.service.outcome(of: request)
            // At 0, 2 and 4 seconds: nothing is waited for before the first, and at 6 it would be too late.
            #expect(outcome.attempts.map { $0.beganAt - 1_800_000_000_000 } == [0, 2_000, 4_000])
            #expect(outcome.endedWith?.status == 500 && outcome.gave == nil)
        }
    }
}
