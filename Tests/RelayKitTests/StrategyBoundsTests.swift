import RelayKit
import RelayTestSupport
import Synchronization
import Testing

/// A strategy that answers as its closure says.
struct Advice: RecoveryStrategy {
    let name: String
    let body: @Sendable (Failure, HTTPRequest, RecoveryContext) async -> RecoveryDisposition

    init(
        _ name: String = "advice",
        _ body: @escaping @Sendable (Failure, HTTPRequest, RecoveryContext) async -> RecoveryDisposition
    ) {
        self.name = name
        self.body = body
    }

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        await body(failure, request, context)
    }
}

@Suite("The bounds of a program's strategy", .timeLimit(.minutes(5)))
struct StrategyBoundsTests {
    private static func again(after wait: Duration = .zero) -> Advice {
        Advice { _, request, _ in .retry(request, after: wait) }
    }

    private static let last = RecoveryRule.placeholder(CannedAnswer(status: 203), on: [.exhausted])

    private func text(_ body: Body) -> String {
        if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" }
    }

    @Test(
        "A wait below zero is none, and one that ends before the deadline is waited for",
        arguments: [
            (.seconds(-5), .zero), (.seconds(Int64.min), .zero), (.zero, .zero), (.seconds(2), .seconds(2)),
            (.nanoseconds(29_999_999_999), .nanoseconds(29_999_999_999)),
        ] as [(Duration, Duration)]
    )
    func waits(asked: Duration, waited: Duration) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [.strategy(Self.again(after: asked)), Self.last]
        }
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        #expect(outcome.source == .upstream && bench.time.now().nanoseconds == waited.saturatedNanoseconds)
        #expect(outcome.attempts[0].next == .retry(after: waited) && outcome.recoveredBy == ["advice"])
    }

    @Test(
        "A wait that would reach the deadline is not begun, and the rules below see exhausted",
        arguments: [.seconds(30), .seconds(31), .seconds(Int64.max)] as [Duration]
    )
    func beyondDeadline(wait: Duration) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [.strategy(Self.again(after: wait)), Self.last]
        }
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        #expect(outcome.source == .placeholder && bench.transport.sent.count == 1)
        #expect(bench.time.waits.isEmpty && outcome.attempts[0].rule == "placeholder")
    }

    @Test(
        "A strategy is asked after every failure, and however often it wants to, the attempts are the policy's"
    )
    func attempts() async throws {
        let seen = Mutex<[[Int]]>([])
        let bench = try ServiceBench(
            [],
            policy: {
                $0.maxAttempts = 3
                $0.recovery = [
                    .strategy(
                        Advice { _, request, context in
                            seen.withLock { $0.append([context.attempt, context.attemptsLeft]) }
                            return .retry(request, after: .seconds(1))
                        }
                    ), Self.last,
                ]
            },
            answer: { _ in .answer(503) }
        )
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        #expect(outcome.source == .placeholder && bench.transport.sent.count == 3)
        #expect(seen.withLock { $0 } == [[1, 2], [2, 1], [3, 0]])
    }

    /// A port that is refused, and a strategy that always retries at once.
    private func refused(
        total: Duration,
        maxAttempts: Int = 2,
        _ answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step = { _ in
            .fail(.connectionRefused, .neverSent)
        }
    ) async throws -> (outcome: JobOutcome<HTTPResponse>, waits: [Duration], left: [Int]) {
        let left = Mutex<[Int]>([])
        let bench = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.maxAttempts = maxAttempts
                $0.timeouts.total = total
                $0.recovery = [
                    .strategy(
                        Advice { _, request, context in
                            left.withLock { $0.append(context.attemptsLeft) }
                            return .retry(request, after: .zero)
                        }
                    ), Self.last,
                ]
            },
            answer: answer
        )
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        return (outcome, bench.time.waits, left.withLock { $0 })
    }

    @Test("Also what is never sent comes to an end, and the attempts left say so before", .clauses("N-10"))
    func neverSent() async throws {
        let (outcome, _, left) = try await refused(total: .seconds(86_400))
        #expect(outcome.source == .placeholder && outcome.attempts.count == 100)
        #expect(left == Array(repeating: 2, count: 98) + [1, 0])
        #expect(outcome.attempts.last?.heldBack == [HeldBack(rule: "advice", reason: .neverSent(100))])
    }

    @Test(
        "A request that is never sent costs no attempt and so costs time: from the second in a row on ever more"
    )
    func paced() async throws {
        let (outcome, waits, _) = try await refused(total: .seconds(30))
        #expect((7...20).contains(outcome.attempts.count), "\(outcome.attempts.count) attempts in 30 s")
        #expect(waits[0] == .zero)
        var longest: Duration = .milliseconds(100)
        for wait in waits.dropFirst() {
            #expect((longest / 2...longest).contains(wait), "\(waits)")
            longest = min(longest * 2, .seconds(10))
        }
        #expect(outcome.attempts.last?.heldBack.first?.rule == "advice")
    }

    @Test("An attempt that was sent ends the row, and the next retry comes when the strategy says")
    func rowEnds() async throws {
        let count = Mutex(0)
        let (_, waits, _) = try await refused(total: .seconds(30), maxAttempts: 3) { _ in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            return number == 2 ? .answer(503) : .fail(.connectionRefused, .neverSent)
        }
        #expect(waits.prefix(3) == [.zero, .zero, .zero] && waits[3] >= .milliseconds(50))
    }

    @Test("A strategy's own wait stands where it is the longer one")
    func ownWait() async throws {
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [.strategy(Self.again(after: .seconds(11))), Self.last] },
            answer: { _ in .fail(.connectionRefused, .neverSent) }
        )
        _ = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        #expect(bench.time.waits == [.seconds(11), .seconds(11)])
    }

    @Test(
        "After an unknown outcome a strategy repeats only what its rule lets it",
        arguments: [
            (.get, .idempotent, false, 2), (.post, .idempotentOrKeyed, false, 1),
            (.post, .idempotentOrKeyed, true, 2), (.post, .idempotent, true, 1), (.post, .any, false, 2),
        ] as [(Method, RepeatableMethods, Bool, Int)]
    )
    func unknown(method: Method, methods: RepeatableMethods, isKeyed: Bool, sends: Int) async throws {
        let bench = try ServiceBench([.fail(.httpResponseTimeout, .unknown), .answer(200)]) {
            $0.recovery = [.strategy(Self.again(), methods: methods), Self.last]
        }
        var request: Request<HTTPResponse> = Request(method, "x")
        request.options.isRepeatable = isKeyed
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == sends && (outcome.source == .placeholder) == (sends == 1))
        #expect(outcome.attempts[0].heldBack.map(\.reason) == (sends == 1 ? [.outcomeUnknown] : []))
    }

    @Test("A strategy that passes is followed by the next; one that stops ends the job with its own failure")
    func order() async throws {
        let asked = Mutex<[String]>([])
        let note: @Sendable (String, RecoveryDisposition) -> RecoveryRule = { name, disposition in
            .strategy(
                Advice(name) { _, _, _ in
                    asked.withLock { $0.append(name) }
                    return disposition
                }
            )
        }
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [
                note("first", .passOn), note("second", .stop(Failure("own", sent: .answered, "mine"))),
                note("third", .passOn), .placeholder(CannedAnswer(status: 203)),
            ]
        }
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        guard case .failure(let failure) = outcome.result else {
            throw Failure("no_failure", sent: .unknown, "")
        }
        #expect(failure.kind == "own" && failure.detail == "mine" && outcome.stoppedBy == "second")
        #expect(asked.withLock { $0 } == ["first", "second"] && bench.transport.sent.count == 1)
    }

    @Test("The request a strategy gives is what is sent from then on, and what the next strategy sees")
    func replaced() async throws {
        let seen = Mutex<[String]>([])
        let bench = try ServiceBench([.answer(400), .answer(503), .answer(200)]) {
            $0.recovery = [
                .strategy(
                    Advice { _, request, _ in
                        seen.withLock { $0.append("\(request.method.rawValue) \(request.target)") }
                        var other = request
                        if seen.withLock({ $0.count }) == 1 {
                            other.method = .put
                            other.target = "other"
                            other.body = .bytes(Array("new".utf8))
                        }
                        return .retry(other, after: .zero)
                    }
                )
            ]
        }
        let request: Request<HTTPResponse> = Request(.post, "x", content: .text("old"))
        _ = try await bench.service.execute(request)
        let sent = bench.transport.sent
        #expect(sent.map(\.method) == [.post, .put, .put])
        #expect(sent.map(\.target) == ["/v1/x", "/v1/other", "/v1/other"])
        #expect(sent.map { text($0.body) } == ["old", "new", "new"])
        #expect(seen.withLock { $0 } == ["POST x", "PUT other"])
    }

    @Test(
        "A strategy that has the content again may send it although the stream is gone; the rules below may not",
        arguments: [(true, 2), (false, 1)]
    )
    func goneBody(bringsContent: Bool, sends: Int) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [
                .strategy(
                    Advice { _, request, _ in
                        var other = request
                        other.body = .bytes([1])
                        return bringsContent ? .retry(other, after: .zero) : .passOn
                    }
                ), .backoff(on: [503]),
            ]
        }
        var http = HTTPRequest(method: .put, target: "x")
        http.body = .stream(ReadBody())
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
            policy: {
                $0.recovery = [
                    .strategy(
                        Advice { _, request, _ in
                            var other = request
                            other.method = second
                            return .retry(other, after: .zero)
                        }
                    )
                ]
            },
            answer: { _ in .fail(.httpResponseTimeout, .unknown) }
        )
        let outcome = await bench.service.outcome(of: Request(first, "x") as Request<HTTPResponse>)
        #expect(
            bench.transport.sent.count == sends
                && outcome.attempts.last?.heldBack.map(\.reason) == [.outcomeUnknown]
        )
    }

    @Test("A retry that is not made leaves the request as it was for the rules below")
    func notMade() async throws {
        let bench = try ServiceBench([.fail(.connectionRefused, .neverSent), .answer(200)]) {
            $0.recovery = [
                .strategy(
                    Advice { _, request, _ in
                        var other = request
                        other.method = .delete
                        other.target = "other"
                        return .retry(other, after: .seconds(3600))
                    }
                ), .failover(to: 1),
            ]
        }
        _ = try await bench.service.execute(Request(.get, "x") as Request<HTTPResponse>)
        #expect(bench.transport.sent[1].method == .get && bench.transport.sent[1].target == "/x")
    }

    @Test(
        "A request below the upstream's base is all a strategy may send",
        arguments: ["/x", "../x", "a/%2e%2e/x"]
    )
    func leavesBase(target: String) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [
                .strategy(
                    Advice { _, request, _ in
                        var other = request
                        other.target = target
                        return .retry(other, after: .zero)
                    }
                )
            ]
        }
        let failure = await #expect(throws: Failure.self) {
            try await bench.service.execute(Request(.get, "x") as Request<HTTPResponse>)
        }
        #expect(failure?.kind == .preparation && bench.transport.sent.count == 1)
    }
}
