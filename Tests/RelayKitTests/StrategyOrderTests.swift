import RelayKit
import RelayTestSupport
import Testing

@Suite("Which strategy is asked, and when", .timeLimit(.minutes(5)))
struct StrategyOrderTests {
    @Test(
        "A service has no strategies of its own: the failure goes straight to the caller",
        .clauses("T-05", "G1-17")
    )
    func none() async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)])
        #expect(bench.service.policy.recovery.isEmpty)
        let outcome = await bench.service.outcome(of: .plain())
        #expect(throws: Failure.self) { try outcome.result.get() }
        #expect(outcome.attempts.count == 1 && outcome.attempts[0].rule == nil)
    }

    @Test(
        "Strategies are asked in the order of the list until one does not pass on",
        .clauses("G2-11", "G2-12", "G3-07", "G3-08", "G3-09"),
        arguments: [
            (["pass", "pass", "pass"], ["0", "1", "2"], "404"),
            (["pass", "stop", "retry"], ["0", "1"], "stopped by 1"),
            (["stop", "retry", "pass"], ["0"], "stopped by 0"),
            (["pass", "pass", "stop"], ["0", "1", "2"], "stopped by 2"),
            (["pass", "retry", "stop"], ["0", "1"], "200"),
            (["retry", "retry", "stop"], ["0"], "200"),
        ]
    )
    func order(answers: [String], asked: [String], ending: String) async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(404), .answer(200)]) { policy in
            policy.recovery = answers.enumerated().map { index, answer in
                .strategy(
                    AdvisingStrategy("\(index)", log) { _, request, _ in
                        switch answer {
                        case "stop": .stop(Failure("given_up", sent: .answered, "stopped by \(index)"))
                        case "retry": .retry(request, after: .zero)
                        default: .passOn
                        }
                    }
                )
            }
        }
        let outcome = await bench.service.outcome(of: .plain())
        switch outcome.result {
        case .success(let response): #expect("\(response.status.rawValue)" == ending)
        case .failure(let failure):
            #expect(ending == (failure.status.map { "\($0.rawValue)" } ?? failure.detail))
        }
        #expect(log.lines == asked)
        #expect(bench.transport.sent.count == (ending == "200" ? 2 : 1))
        if ending.hasPrefix("stopped") { #expect(outcome.stoppedBy == asked.last) }
    }

    @Test("When all pass on, the caller gets the failure of the attempt", .clauses("G2-14", "G3-11", "T-14"))
    func allPass() async throws {
        let bench = try ServiceBench([.answer(401, [("WWW-Authenticate", "Bearer")], "who are you")]) {
            $0.recovery = [.strategy(AdvisingStrategy("a")), .strategy(AdvisingStrategy("b"))]
        }
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.status == .unauthorized && failure.response?.text == "who are you")
        #expect(failure.response?.fields[.wwwAuthenticate] == "Bearer")
    }

    @Test("A strategy may end the job with the failure it was shown", .clauses("G1-12", "T-14"))
    func sameFailure() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(401, [], "no"), .answer(200)]) {
            $0.recovery = [
                .strategy(AdvisingStrategy("fatal", log) { failure, _, _ in .stop(failure) }), .again(),
            ]
        }
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.status == .unauthorized && failure.response?.text == "no")
        #expect(log.lines == ["fatal"] && bench.transport.sent.count == 1)
    }

    @Test("A matcher keeps a strategy from being asked about what is not its own", .clauses("G2-10", "G2-15"))
    func matcher() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(401), .answer(503), .answer(404)]) {
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("busy", log) { _, request, _ in .retry(request, after: .zero) },
                    on: [503]
                ),
                .strategy(
                    AdvisingStrategy("stranger", log) { _, request, _ in .retry(request, after: .zero) },
                    on: [401]
                ),
            ]
        }
        #expect(await bench.failure(of: .plain())?.status == 404)
        #expect(log.lines == ["stranger", "busy"])
    }

    @Test(
        "A retried attempt that fails meets the whole list again, from the first",
        .clauses("G1-13", "G2-13")
    )
    func wholeListAgain() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(503), .answer(503), .answer(401), .answer(200)]) {
            $0.recovery = [
                .strategy(AdvisingStrategy("first", log)),
                .strategy(
                    AdvisingStrategy("busy", log) { failure, request, _ in
                        failure.status == 503 ? .retry(request, after: .seconds(1)) : .passOn
                    }
                ),
                .strategy(
                    AdvisingStrategy("stranger", log) { failure, request, _ in
                        failure.status == 401 ? .retry(request, after: .zero) : .passOn
                    }
                ),
            ]
        }
        let outcome = await bench.service.outcome(of: .plain())
        #expect(try outcome.result.get().status == 200)
        #expect(log.lines == ["first", "busy", "first", "busy", "first", "busy", "stranger"])
        #expect(outcome.recoveredBy == ["busy", "stranger"])
        #expect(bench.time.waits == [.seconds(1), .seconds(1), .zero])
    }

    @Test(
        "One concern a strategy: two stand beside each other and each mends its own",
        .clauses("G2-21", "G3-12")
    )
    func separateConcerns() async throws {
        let bench = try ServiceBench(
            [],
            policy: { $0.recovery = [.again(on: [503]), .strategy(NewTokenStrategy { "t" })] },
            answer: { request in
                if request.fields[.authorization] != "Bearer t" { return .answer(401) }
                return request.deadline < Instant(nanoseconds: 11_000_000_000) ? .answer(503) : .answer(200)
            }
        )
        let outcome = await bench.service.outcome(of: .plain())
        #expect(outcome.recoveredBy == ["NewTokenStrategy", "again"])
        #expect(try outcome.result.get().status == 200)
    }

    @Test("The request of a retry is what is sent, and its answer is the outcome", .clauses("G1-12", "G3-10"))
    func anotherRequest() async throws {
        let bench = try ServiceBench([.answer(404), .answer(200, [], "found")]) {
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("elsewhere") { _, request, _ in
                        var request = request
                        request.target = "y"
                        request.fields.set("X-Try", "2")
                        return .retry(request, after: .zero)
                    }
                )
            ]
        }
        #expect(try await bench.service.execute(.plain()).text == "found")
        #expect(bench.transport.sent.map(\.target) == ["/v1/x", "/v1/y"])
        #expect(bench.sentValues(try #require(FieldName("x-try"))) == ["-", "2"])
    }

    @Test("A retry that is not made leaves the request to the next strategy as it was")
    func refusedRetry() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(404)]) {
            $0.maxAttempts = 1
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("wishful") { _, request, _ in
                        var request = request
                        request.target = "y"
                        return .retry(request, after: .zero)
                    }
                ),
                .strategy(
                    AdvisingStrategy("next") { _, request, _ in
                        log.note(request.target)
                        return .passOn
                    }
                ),
            ]
        }
        #expect(await bench.failure(of: .plain())?.status == 404)
        #expect(log.lines == ["x"])
    }

    @Test("The failure a strategy ends the job with need not be the one it was shown", .clauses("G3-09"))
    func substituted() async throws {
        let bench = try ServiceBench([.answer(503)]) {
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("translator") { failure, _, _ in
                        var own = Failure("kitchen_closed", sent: failure.sent, "come back tomorrow")
                        own.underlying = RecipeProblem(code: "closed")
                        return .stop(own)
                    }
                )
            ]
        }
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.kind == "kitchen_closed" && failure.detail == "come back tomorrow")
        #expect(failure.underlying as? RecipeProblem == RecipeProblem(code: "closed"))
    }

    @Test("The caller gets the failure of the last attempt, not of the first", .clauses("G2-20", "G2-18"))
    func lastFailure() async throws {
        let bench = try ServiceBench([.answer(503), .answer(500), .answer(404, [], "gone now")]) {
            $0.recovery = [.again(on: [.serverError])]
        }
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.status == 404 && failure.response?.text == "gone now")
    }

    @Test(
        "Every kind of failure is shown to strategies: status, transport, error document, validation, decoding",
        .clauses("G3-12", "G3-15", "G1-16"),
        arguments: [
            (ScriptedTransport.Step.answer(500), FailureKind.httpStatus),
            (.fail(.connectionRefused, .neverSent), .connectionRefused),
            (.answer(200, [], #"{"error":{"code":"burnt"}}"#), .apiError),
            (.answer(200, [], #"{"title":""}"#), .invalidResponse), (.answer(200, [], "<html>"), .decoding),
        ]
    )
    func everyKind(step: ScriptedTransport.Step, kind: FailureKind) async throws {
        let log = CallLog()
        let bench = try ServiceBench([step, .answer(200, [], #"{"title":"soup"}"#)]) {
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("s") { failure, request, _ in
                        log.note(failure.kind.rawValue)
                        return .retry(request, after: .zero)
                    }
                )
            ]
        }
        var request = Request.recipe()
        request.errorDocument = ErrorDocument(
            RecipeProblem.self,
            at: pointer("/error"),
            decoder: RecipeCoder()
        )
        request.successValidator = { success in
            if success.response.text == #"{"title":""}"# { throw RecipeProblem(code: "untitled") }
        }
        #expect(try await bench.service.execute(request).title == "soup")
        #expect(log.lines == [kind.rawValue])
    }
}

/// Mends a 401 with a new token, looking at what is left of the job before it asks for one.
struct NewTokenStrategy: RecoveryStrategy {
    let fetch: @Sendable () async -> String

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        guard failure.status == .unauthorized, context.attemptsLeft > 0 else { return .passOn }
        guard let credentials = try? Authorization.bearer(await fetch()) else { return .passOn }
        var request = request
        request.fields.set(.authorization, credentials.fieldValue)
        return .retry(request, after: .zero)
    }
}
