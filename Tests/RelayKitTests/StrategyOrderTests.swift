import RelayKit
import RelayTestSupport
import Testing

@Suite("Which strategy is asked, and when", .timeLimit(.minutes(5)))
struct StrategyOrderTests {
    @Test(
        "A service has no strategies of its own: the failure goes straight to the caller",
        .clauses("G1-16", "G1-17", "T-05")
    )
    func none() async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)])
        #expect(bench.service.policy.recovery.isEmpty)
        let outcome = await bench.run()
        #expect(outcome.failure?.status == 503)
        #expect(outcome.attempts.count == 1 && outcome.attempts[0].rule == nil)
    }

    @Test(
        "Strategies are asked in the order of the list until one does not pass on",
        .clauses("G1-12", "G2-11", "G2-12", "G2-14", "G3-07", "G3-08", "G3-09", "G3-11", "T-14"),
        arguments: [
            (["pass", "pass", "pass"], ["0", "1", "2"], "401 who are you"),
            (["pass", "stop", "retry"], ["0", "1"], "own stopped by 1"),
            (["stop", "retry", "pass"], ["0"], "own stopped by 0"),
            (["pass", "same", "retry"], ["0", "1"], "401 who are you"),
            (["pass", "retry", "stop"], ["0", "1"], "200"), (["retry", "retry", "stop"], ["0"], "200"),
        ]
    )
    func order(answers: [String], asked: [String], ending: String) async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(401, [], "who are you"), .answer(200)]) { policy in
            policy.recovery =
                answers.enumerated().map { index, answer in
                    .advice("\(index)", log) { failure, request, _ in
                        switch answer {
                        case "stop":
                            var own = Failure("own", sent: failure.sent, "stopped by \(index)")
                            own.underlying = Problem(code: "closed")
                            return .stop(own)
                        case "same": return .stop(failure)
                        case "retry": return .retry(request, after: .zero)
                        default: return .passOn
                        }
                    }
                }
        }
        let outcome = await bench.run()
        let isStopped = answers[asked.count - 1] == "stop" || answers[asked.count - 1] == "same"
        if let failure = outcome.failure {
            let own = failure.status == nil
            let words = own ? "own \(failure.detail)" : "401 \(failure.response?.text ?? "")"
            #expect(words == ending && own == (failure.underlying is Problem))
            #expect(outcome.stoppedBy == (isStopped ? asked.last : nil))
        } else {
            #expect(ending == "200")
        }
        #expect(log.lines == asked && bench.transport.sent.count == (ending == "200" ? 2 : 1))
    }

    @Test(
        "A retried attempt that fails meets the whole list again, from the first, where its matcher names the failure",
        .clauses("G1-13", "G2-10", "G2-13", "G2-15")
    )
    func wholeListAgain() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(503), .answer(503), .answer(401), .answer(200)]) {
            $0.recovery = [
                .advice("first", log),
                .advice("stranger", log, on: [401]) { _, request, _ in .retry(request, after: .zero) },
                .advice("busy", log, on: [503]) { _, request, _ in .retry(request, after: .seconds(1)) },
            ]
        }
        let outcome = await bench.run()
        #expect(outcome.value?.status == 200)
        #expect(log.lines == ["first", "busy", "first", "busy", "first", "stranger"])
        #expect(outcome.recoveredBy == ["busy", "stranger"])
        #expect(bench.time.waits == [.seconds(1), .seconds(1), .zero])
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
        let log = Log()
        let bench = try ServiceBench([step, .answer(200, [], #"{"title":"soup"}"#)]) {
            $0.recovery = [
                .advice { failure, request, _ in
                    let code = (failure.underlying as? Problem)?.code ?? ""
                    log.note("\(failure.kind.rawValue) \(code)")
                    return .retry(request, after: .zero)
                }
            ]
        }
        var request = Request.book()
        request.errorDocument = ErrorDocument(Problem.self, at: pointer("/error"), decoder: ShapeCoder())
        request.successValidator = { success in
            if success.response.text == #"{"title":""}"# { throw Problem(code: "untitled") }
        }
        #expect(try await bench.service.execute(request).title == "soup")
        let code = [FailureKind.apiError: "burnt", .invalidResponse: "untitled"][kind] ?? ""
        #expect(log.lines == ["\(kind.rawValue) \(code)"])
    }
}
