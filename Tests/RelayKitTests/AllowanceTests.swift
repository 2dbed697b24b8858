import RelayKit
import RelayTestSupport
import Testing

@Suite("How often a job may be sent", .timeLimit(.minutes(5)))
struct AllowanceTests {
    /// An upstream that wants a token.
    private static let guarded: @Sendable (OutboundRequest) -> ScriptedTransport.Step = { request in
        request.fields[.authorization] == "Bearer fresh" ? .answer(200, [], "welcome") : .answer(401)
    }

    /// A strategy that would go on for ever.
    private static func stubborn(_ log: CallLog, after wait: Duration = .zero) -> RecoveryRule {
        .strategy(
            AdvisingStrategy("stubborn") { _, request, context in
                log.note("\(context.attemptsLeft)")
                return .retry(request, after: wait)
            },
            methods: .any
        )
    }

    /// Far enough for the budget of retries: no more than twelve fail in a second.
    private static let apart: Duration = .milliseconds(100)

    @Test(
        "Attempts left count down to none, and then nothing more is sent",
        .clauses("G1-11", "T-10", "T-11", "T-12"),
        arguments: [
            (1, ["0"]), (2, ["1", "0"]), (4, ["3", "2", "1", "0"]), (6, ["5", "4", "3", "2", "1", "0"]),
        ]
    )
    func countdown(maxAttempts: Int, left: [String]) async throws {
        let log = CallLog()
        let bench = try ServiceBench([], answer: { _ in .answer(503) })
        var request = Request.plain()
        request.options.maxAttempts = maxAttempts
        let stubborn = try ServiceBench(
            [],
            policy: { $0.recovery = [Self.stubborn(log)] },
            answer: { _ in .answer(503) }
        )
        #expect(await stubborn.failure(of: request)?.status == 503)
        #expect(log.lines == left && stubborn.transport.sent.count == maxAttempts)
        #expect(request.options.maxAttempts == maxAttempts)
        #expect(await bench.failure(of: request)?.status == 503 && bench.transport.sent.count == 1)
    }

    @Test(
        "A request without a limit of its own is bounded by the policy, which must have one",
        .clauses("T-10", "N-10")
    )
    func noUnlimited() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [Self.stubborn(log, after: Self.apart)] },
            answer: { _ in .answer(503) }
        )
        #expect(await bench.failure(of: .plain())?.status == 503)
        #expect(bench.transport.sent.count == 10 && log.lines.last == "0")
        for wrong in [0, -1, 101, Int.max] {
            #expect(throws: Refusal.self) { try ServiceBench([], policy: { $0.maxAttempts = wrong }) }
        }
        var greedy = Request.plain()
        greedy.options.maxAttempts = 1000
        #expect(await bench.failure(of: greedy)?.status == 503)
        #expect(bench.transport.sent.count == 20)
    }

    @Test(
        "The relay counts: a strategy that counts nothing and always retries is stopped",
        .clauses("G1-14", "X-11"),
        arguments: [2, 50]
    )
    func counted(maxAttempts: Int) async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [Self.stubborn(log, after: Self.apart)]
                $0.maxAttempts = maxAttempts
            },
            answer: { _ in .answer(401) }
        )
        #expect(await bench.failure(of: .plain())?.status == .unauthorized)
        #expect(bench.transport.sent.count == maxAttempts)
    }

    @Test("Attempts that were never sent cost none, and end all the same", .clauses("G1-14", "X-11", "N-10"))
    func neverSent() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: {
                $0.timeouts.total = .seconds(86_400)
                $0.recovery = [Self.stubborn(log)]
            },
            answer: { _ in .fail(.connectionRefused, .neverSent) }
        )
        #expect(await bench.failure(of: .plain())?.kind == .connectionRefused)
        #expect(bench.transport.sent.count == 100)
        let slow = try ServiceBench(
            [],
            policy: { $0.recovery = [Self.stubborn(log, after: .seconds(1))] },
            answer: { _ in .fail(.connectionRefused, .neverSent) }
        )
        #expect(await slow.failure(of: .plain())?.kind == .connectionRefused)
        #expect(
            (8...30).contains(slow.transport.sent.count)
                && slow.time.now() < Instant(nanoseconds: 30_000_000_000)
        )
    }

    @Test("A 401 is mended with a new token: two sends, one success", .clauses("T-13", "G1-15", "G2-18"))
    func newToken() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [.strategy(Self.tokens(log))] },
            answer: Self.guarded
        )
        #expect(try await bench.service.execute(.plain()).text == "welcome")
        #expect(bench.sentValues(.authorization) == ["-", "Bearer fresh"] && log.lines == ["fetched"])
    }

    @Test("No token is fetched when no attempt is left to use it", .clauses("G2-16", "X-12"))
    func allowanceFirst() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [.strategy(Self.tokens(log))] },
            answer: Self.guarded
        )
        var request = Request.plain()
        request.options.maxAttempts = 1
        #expect(await bench.failure(of: request)?.status == .unauthorized)
        #expect(log.lines == [] && bench.transport.sent.count == 1)
    }

    @Test("Nor does the ready-made rule fetch one", .clauses("G2-16", "X-12"), arguments: [1, 2])
    func readyMadeRule(maxAttempts: Int) async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: {
                $0.authentication = Authentication(form: .bearer, credential: "own")
                $0.recovery = [.reauthorize()]
                $0.maxAttempts = maxAttempts
            },
            credentials: [
                CredentialDefinition(
                    name: "own",
                    kind: .custom(
                        CustomCredential {
                            log.note("fetched")
                            return AccessToken("t\(log.lines.count)")
                        }
                    )
                )
            ],
            answer: { $0.addedFields[.authorization] == "Bearer t2" ? .answer(200) : .answer(401) }
        )
        let failure = await bench.failure(of: .plain())
        #expect((failure == nil) == (maxAttempts == 2) && log.lines.count == maxAttempts)
    }

    @Test(
        "A token that is always refused is asked for no more often than there are attempts",
        .clauses("G2-17")
    )
    func alwaysRefused() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [.strategy(Self.tokens(log))]
                $0.maxAttempts = 4
            },
            answer: { _ in .answer(401) }
        )
        #expect(await bench.failure(of: .plain())?.status == .unauthorized)
        #expect(bench.transport.sent.count == 4 && log.lines.count == 3)
    }

    @Test("It stops as soon as the failure is another one", .clauses("G1-13", "G2-17"))
    func anotherFailure() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(401), .answer(403), .answer(200)]) {
            $0.recovery = [.strategy(Self.tokens(log))]
        }
        #expect(await bench.failure(of: .plain())?.status == .forbidden)
        #expect(bench.transport.sent.count == 2 && log.lines.count == 1)
    }

    @Test(
        "All strategies share the attempts of the job",
        .clauses("G2-19"),
        arguments: [(2, 2, 0, UInt16(401)), (3, 3, 1, 200)]
    )
    func shared(maxAttempts: Int, sends: Int, fetches: Int, status: UInt16) async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(503), .answer(401), .answer(200)]) {
            $0.recovery = [.again(on: [503]), .strategy(Self.tokens(log))]
            $0.maxAttempts = maxAttempts
        }
        let outcome = await bench.service.outcome(of: .plain())
        switch outcome.result {
        case .success(let response): #expect(response.status.rawValue == status)
        case .failure(let failure): #expect(failure.status?.rawValue == status)
        }
        #expect(bench.transport.sent.count == sends && log.lines.count == fetches)
    }

    @Test(
        "A request may ask for no recovery at all, and a service has none it was not given",
        .clauses("G1-16")
    )
    func optOut() async throws {
        let bench = try ServiceBench([.answer(503), .answer(503), .answer(200)]) { $0.recovery = [.again()] }
        var request = Request.plain()
        request.options.maxAttempts = 1
        #expect(await bench.failure(of: request)?.status == 503)
        #expect(try await bench.service.execute(.plain()).status == 200)
    }

    private static func tokens(_ log: CallLog) -> NewTokenStrategy {
        NewTokenStrategy {
            log.note("fetched")
            return "fresh"
        }
    }
}
