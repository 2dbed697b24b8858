import RelayKit
import RelayTestSupport
import Testing

@Suite("A key protects a request for as long as its outcome is unknown", .timeLimit(.minutes(5)))
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
        "The caller's key goes out under the name that the upstream looks for, and under no other",
        arguments: [nil, "its own"]
    )
    func named(own: String?) async throws {
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.idempotency.header = "X-Request-Key"
            $0.idempotency.generates = true
            $0.recovery = [.again()]
        }
        let both = Request<HTTPResponse>(
            .post,
            "x",
            headers: ["Idempotency-Key": "a", "X-Request-Key": own ?? ""]
        )
        _ = await bench.service.outcome(of: own == nil ? KeptKeyTests.keyed : both)
        let name = try #require(FieldName("x-request-key"))
        let sent = bench.transport.sent
        #expect(
            sent.map { $0.fields.values(name) + $0.addedFields.values(name) }
                == Array(repeating: [own ?? "a"], count: 2)
        )
        #expect(
            sent.allSatisfy {
                !$0.fields.contains(.idempotencyKey) && !$0.addedFields.contains(.idempotencyKey)
            }
        )
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
