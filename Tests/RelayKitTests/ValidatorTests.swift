import RelayKit
import RelayTestSupport
import Testing

@Suite("Answers that only look like a success", .timeLimit(.minutes(5)))
struct ValidatorTests {
    /// A book whose 200 may carry the upstream's problem instead: its presence decides.
    private static func checked(_ log: Log = Log()) -> PlainRequest<Book> {
        var request = Request.book()
        request.successValidator = { success in
            log.note("validated")
            let problem = try? ShapeCoder().decodeContent(Problem.self, from: success.response.bytes)
            if let problem { throw problem }
        }
        return request
    }

    @Test(
        "A 200 that carries an error gives that error, not one of decoding",
        .clauses("G3-14", "G3-16", "T-101")
    )
    func errorInSuccess() async throws {
        let bench = try ServiceBench([.answer(200, [], #"{"code":"burnt"}"#)])
        let failure = try #require(await bench.failure(of: Self.checked()))
        #expect(failure.kind == .invalidResponse && failure.status == 200)
        #expect(failure.underlying as? Problem == Problem(code: "burnt"))
        #expect(failure.response?.text == #"{"code":"burnt"}"#)
    }

    @Test(
        "An answer that passes is transformed; one of no known kind fails to decode",
        .clauses("G3-14", "G3-16")
    )
    func passes() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(200, [], #"{"title":"soup"}"#), .answer(200, [], "{}")])
        #expect(try await bench.service.execute(Self.checked(log)).title == "soup")
        #expect(await bench.failure(of: Self.checked(log))?.kind == .decoding)
        #expect(log.lines == ["validated", "validated"])
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
        let log = Log()
        let bench = try ServiceBench([.answer(503), step]) {
            $0.recovery = [.again(on: [503]), .advice("rules saw the original", log)]
        }
        let request = Self.checked().throwing { failure in
            log.note(failure.kind.rawValue)
            return Failure("translated", sent: failure.sent, failure.detail)
        }
        #expect(await bench.failure(of: request)?.kind == "translated")
        #expect(log.lines == ["rules saw the original", kind.rawValue])
    }
}
