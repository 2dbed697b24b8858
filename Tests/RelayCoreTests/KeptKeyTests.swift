import RelayCore
import RelayTestSupport
import Testing

@Suite("A key protects a request for as long as its outcome is unknown", .timeLimit(.minutes(1)))
struct KeptKeyTests {
    private static let keyed = Request<HTTPResponse>(.post, "x", headers: ["Idempotency-Key": "a"])

    @Test("A step that gives every attempt the same key lets a strategy send the request again")
    func steadyStep() async throws {
        var request = Request<HTTPResponse>(.post, "x")
        request.preparation = [
            Prepare(.attempt) { request, _ in
                var request = request
                request.fields.set("Idempotency-Key", "steady")
                return request
            }
        ]
        let bench = try ServiceBench([.answer(503), .fail(.connectionReadTimeout, .unknown), .answer(200)]) {
            $0.recovery = [.strategy(Advice { _, request, _ in .retry(request, after: .zero) })]
        }
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == 3 && outcome.endedWith == nil)
    }

    @Test(
        "However a repetition ends, it does not free a strategy to change the key that made it safe",
        arguments: [.fail(.connectionRefused, .neverSent), .answer(429), .answer(500)]
            as [ScriptedTransport.Step]
    )
    func failedRepetition(second: ScriptedTransport.Step) async throws {
        let bench = try ServiceBench([.fail(.connectionReadTimeout, .unknown), second, .answer(200)]) {
            $0.recovery = [
                .strategy(
                    Advice { _, request, context in
                        var request = request
                        if context.attempt == 2 { request.fields.set("Idempotency-Key", "other") }
                        return .retry(request, after: .zero)
                    }
                )
            ]
        }
        _ = await bench.service.outcome(of: KeptKeyTests.keyed)
        #expect(bench.transport.sent.count == 2)
    }
}
