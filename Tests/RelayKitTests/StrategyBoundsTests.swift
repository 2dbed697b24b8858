import RelayKit
import RelayTestSupport
import Testing

@Suite("The bounds of a program's strategy", .timeLimit(.minutes(5)))
struct StrategyBoundsTests {
    private static let last = RecoveryRule.placeholder(CannedAnswer(status: 203), on: [.exhausted])

    @Test(
        "A wait below zero is none, one that ends before the deadline is waited for, and a longer one is not begun",
        .clauses("G3-07"),
        arguments: [
            (.seconds(-5), .zero), (.seconds(Int64.min), .zero), (.zero, .zero), (.seconds(2), .seconds(2)),
            (.nanoseconds(29_999_999_999), .nanoseconds(29_999_999_999)),
            (.seconds(30), nil), (.seconds(31), nil), (.seconds(Int64.max), nil),
        ] as [(Duration, Duration?)]
    )
    func waits(asked: Duration, waited: Duration?) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [.advice { _, request, _ in .retry(request, after: asked) }, Self.last]
        }
        let outcome = await bench.run()
        guard let waited else {
            // The rules below see that recovery is exhausted.
            #expect(outcome.source == .placeholder && bench.transport.sent.count == 1)
            #expect(bench.time.waits.isEmpty && outcome.attempts[0].rule == "placeholder")
            return
        }
        #expect(outcome.source == .upstream && bench.time.now().nanoseconds == waited.saturatedNanoseconds)
        #expect(outcome.attempts[0].next == .retry(after: waited) && outcome.recoveredBy == ["advice"])
    }

    @Test("A strategy's own wait stands where it is longer than that for what is never sent")
    func ownWait() async throws {
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [.advice { _, request, _ in .retry(request, after: .seconds(11)) }] },
            answer: { _ in .fail(.connectionRefused, .neverSent) }
        )
        _ = await bench.run()
        #expect(bench.time.waits == [.seconds(11), .seconds(11)])
    }

    @Test(
        "The request a strategy gives is what is sent from then on, and what the next strategy sees",
        .clauses("G1-12", "G3-10", "UC-04")
    )
    func replaced() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(400), .answer(503), .answer(200, [], "found")]) {
            $0.recovery = [
                .advice { failure, request, _ in
                    log.note("\(request.method.rawValue) \(request.target)")
                    return .retry(request) {
                        guard failure.status == 400 else { return }
                        ($0.method, $0.target, $0.body) = (.put, "other", .bytes(Array("new".utf8)))
                        $0.fields.set("Location", "2")
                    }
                }
            ]
        }
        #expect(try await bench.service.execute(Request(.post, "x", content: .text("old"))).text == "found")
        let sent = bench.transport.sent
        #expect(sent.map(\.method) == [.post, .put, .put] && sent.map(\.text) == ["old", "new", "new"])
        #expect(sent.map(\.target) == ["/v1/x", "/v1/other", "/v1/other"])
        #expect(bench.sentValues(.location) == ["-", "2", "2"] && log.lines == ["POST x", "PUT other"])
    }

    @Test(
        "A retry that is not made leaves the request as it was for the strategies and rules below",
        arguments: [(Duration.zero, 1), (.seconds(3600), 10)]
    )
    func notMade(wait: Duration, maxAttempts: Int) async throws {
        let log = Log()
        let bench = try ServiceBench([.fail(.connectionTerminated, .unknown), .answer(200)]) {
            $0.maxAttempts = maxAttempts
            $0.recovery = [
                .advice { _, request, _ in
                    .retry(request, after: wait) { ($0.method, $0.target) = (.delete, "other") }
                },
                .advice("next") { _, request, _ in
                    log.note("\(request.method.rawValue) \(request.target)")
                    return .passOn
                }, .failover(to: 1),
            ]
        }
        _ = await bench.run()
        #expect(log.lines == ["GET x"])
        #expect(bench.transport.sent.map(\.target) == Array(["/v1/x", "/x"].prefix(maxAttempts)))
    }

    @Test(
        "A strategy that has the content again may send it although the stream is gone; the rules below may not",
        arguments: [(true, 2), (false, 1)]
    )
    func goneBody(bringsContent: Bool, sends: Int) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [
                .advice { _, request, _ in
                    bringsContent ? .retry(request) { $0.body = .bytes([1]) } : .passOn
                }, .backoff(on: [503]),
            ]
        }
        let http = HTTPRequest(method: .put, target: "x", body: .stream(PieceBody(wasRead: true)))
        let outcome = await bench.service.outcome(of: Request(http) { $0.response.status })
        #expect(bench.transport.sent.count == sends)
        #expect(outcome.attempts[0].heldBack.map(\.reason) == (bringsContent ? [] : [.passedOn, .bodyGone]))
    }

    @Test(
        "The request that was sent last decides what may be repeated",
        arguments: [(Method.get, Method.post, 2), (.post, .get, 1)]
    )
    func changedMethod(first: Method, second: Method, sends: Int) async throws {
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [.advice { _, request, _ in .retry(request) { $0.method = second } }] },
            answer: { _ in .fail(.httpResponseTimeout, .unknown) }
        )
        let outcome = await bench.run(.plain(first))
        #expect(bench.transport.sent.count == sends)
        #expect(outcome.attempts.last?.heldBack.map(\.reason) == [.outcomeUnknown])
    }

    @Test(
        "A strategy repeats what was not carried out, what is safe to repeat, or what its rule says",
        .clauses("N-09", "UC-15"),
        arguments: [
            (.get, .fail(.httpResponseTimeout, .unknown), .idempotent, false, nil),
            (.post, .fail(.httpResponseTimeout, .unknown), .idempotentOrKeyed, false, .outcomeUnknown),
            (.post, .fail(.httpResponseTimeout, .unknown), .idempotentOrKeyed, true, nil),
            (.post, .fail(.httpResponseTimeout, .unknown), .idempotent, true, .outcomeUnknown),
            (.post, .fail(.httpResponseTimeout, .unknown), .any, false, nil),
            (.post, .answer(500), .idempotentOrKeyed, false, .mayHaveActed),
            (.post, .answer(500), .any, false, nil), (.post, .answer(404), .idempotentOrKeyed, false, nil),
            (.post, .fail(.connectionRefused, .neverSent), .idempotentOrKeyed, false, nil),
        ] as [(Method, ScriptedTransport.Step, RepeatableMethods, Bool, HeldBack.Reason?)]
    )
    func verdicts(
        method: Method,
        step: ScriptedTransport.Step,
        methods: RepeatableMethods,
        isKeyed: Bool,
        held: HeldBack.Reason?
    ) async throws {
        let bench = try ServiceBench([step, .answer(200)]) {
            $0.recovery = [
                .advice(methods: methods) { _, request, _ in .retry(request, after: .zero) }, Self.last,
            ]
        }
        var request = Request.plain(method)
        request.options.isRepeatable = isKeyed
        let outcome = await bench.run(request)
        #expect(bench.transport.sent.count == (held == nil ? 2 : 1))
        #expect(outcome.source == (held == nil ? .upstream : .placeholder))
        #expect(outcome.attempts[0].heldBack.map(\.reason) == (held.map { [$0] } ?? []))
    }

    @Test(
        "A request below the upstream's base is all that a strategy or a step of preparation may send",
        arguments: ["/x", "../x", "a/%2e%2e/x", "a/../../b", "a/%2E./b", "%2e%2e/b"]
    )
    func leavesBase(target: String) async throws {
        let strategy = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [.advice { _, request, _ in .retry(request) { $0.target = target } }]
        }
        #expect(await strategy.run().failure?.kind == .preparation && strategy.transport.sent.count == 1)
        let step = try ServiceBench(
            [.answer(200)],
            preparation: [Prepare.changing { request, _ in request.target = target }]
        )
        #expect(await step.run().failure?.kind == .preparation && step.transport.sent.isEmpty)
    }
}
