import RelayKit
import RelayTestSupport
import Testing

@Suite("Answers that only look like a success", .timeLimit(.minutes(5)))
struct ValidatorTests {
    /// A recipe whose 200 may carry the upstream's problem instead: its presence decides.
    private static func checked(_ log: CallLog = CallLog()) -> Request<Recipe> {
        var request = Request.recipe()
        request.successValidator = { success in
            log.note("validated")
            let problem = try? RecipeCoder().decodeContent(RecipeProblem.self, from: success.response.bytes)
            if let problem { throw problem }
        }
        return request
    }

    @Test("A 200 that carries an error gives that error, not one of decoding", .clauses("G3-14", "G3-16"))
    func errorInSuccess() async throws {
        let bench = try ServiceBench([.answer(200, [], #"{"code":"burnt"}"#)])
        let failure = try #require(await bench.failure(of: Self.checked()))
        #expect(failure.kind == .invalidResponse && failure.status == 200)
        #expect(failure.underlying as? RecipeProblem == RecipeProblem(code: "burnt"))
        #expect(failure.response?.text == #"{"code":"burnt"}"#)
    }

    @Test(
        "An answer that passes is transformed; one of no known kind fails to decode",
        .clauses("G3-14", "G3-16")
    )
    func passes() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(200, [], #"{"title":"soup"}"#), .answer(200, [], "{}")])
        #expect(try await bench.service.execute(Self.checked(log)).title == "soup")
        #expect(await bench.failure(of: Self.checked(log))?.kind == .decoding)
        #expect(log.lines == ["validated", "validated"])
    }

    @Test(
        "A validator looks at successes only",
        .clauses("G3-15"),
        arguments: [.answer(500), .answer(304), .fail(.connectionRefused, .neverSent)]
            as [ScriptedTransport.Step]
    )
    func successesOnly(step: ScriptedTransport.Step) async throws {
        let log = CallLog()
        let bench = try ServiceBench([step])
        #expect(await bench.failure(of: Self.checked(log)) != nil)
        #expect(log.lines == [])
    }

    @Test("Without a validator whatever decodes is good", .clauses("G3-15"))
    func noneByDefault() async throws {
        let bench = try ServiceBench([.answer(200, [], #"{"code":"burnt"}"#)])
        #expect(try await bench.service.execute(.plain()).text == #"{"code":"burnt"}"#)
    }

    @Test("It runs for every answer that is a success, retries included", .clauses("G3-14", "G3-15"))
    func everyAnswer() async throws {
        let log = CallLog()
        let bench = try ServiceBench([
            .answer(200, [], #"{"code":"burnt"}"#), .answer(503), .answer(200, [], #"{"title":"soup"}"#),
        ]) { $0.recovery = [.again()] }
        #expect(try await bench.service.execute(Self.checked(log)).title == "soup")
        #expect(log.lines == ["validated", "validated"])
    }

    @Test("An error that a validator throws is in the failure that the strategies see", .clauses("G3-15"))
    func offered() async throws {
        let bench = try ServiceBench([
            .answer(200, [], #"{"code":"token_invalid"}"#), .answer(200, [], #"{"title":"soup"}"#),
        ]) {
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("token") { failure, request, _ in
                        guard (failure.underlying as? RecipeProblem)?.code == "token_invalid" else {
                            return .passOn
                        }
                        return .retry(request, after: .zero)
                    }
                )
            ]
        }
        #expect(try await bench.service.execute(Self.checked()).title == "soup")
    }

    @Test("A failure it throws goes to the strategies and not back into quick recovery", .clauses("G3-15"))
    func noQuickRecovery() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(200)]) {
            $0.recovery = [.strategy(AdvisingStrategy("asked", log))]
        }
        var request = Request.plain()
        request.successValidator = { success in
            throw Failure(.httpStatus, sent: .answered, "as good as a 500", status: 500)
        }
        request.quickRecovery = { _ in
            log.note("quick")
            return HTTPResponse(status: 200)
        }
        #expect(await bench.failure(of: request)?.status == 500)
        #expect(log.lines == ["asked"])
    }

    @Test(
        "The closure with which a request translates failures sees those of every stage, once, at the end",
        .clauses("G3-17", "G3-18"),
        arguments: [
            (ScriptedTransport.Step.answer(500), FailureKind.httpStatus),
            (.fail(.dnsError, .neverSent), .dnsError), (.answer(200, [], #"{"code":"x"}"#), .invalidResponse),
            (.answer(200, [], "<html>"), .decoding),
        ]
    )
    func everyStage(step: ScriptedTransport.Step, kind: FailureKind) async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(503), step]) {
            $0.recovery = [.again(on: [503]), .strategy(AdvisingStrategy("rules saw the original", log))]
        }
        let request = Self.checked().throwing { failure in
            log.note(failure.kind.rawValue)
            return Failure("translated", sent: failure.sent, failure.detail)
        }
        #expect(await bench.failure(of: request)?.kind == "translated")
        #expect(log.lines == ["rules saw the original", kind.rawValue])
    }

    @Test("It is not asked about a success, though the validator is", .clauses("G3-17"))
    func notOnSuccess() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(200, [], #"{"title":"soup"}"#)])
        let request = Self.checked(log).throwing { failure in
            log.note("translated")
            return failure
        }
        #expect(try await bench.service.execute(request).title == "soup")
        #expect(log.lines == ["validated"])
    }
}
