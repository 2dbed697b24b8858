import RelayKit
import RelayTestSupport
import Testing

@Suite("A service in a program", .timeLimit(.minutes(5)))
struct ServiceTests {
    @Test("A 503 is retried and the caller sees one value", .clauses("G1-15", "G3-10"))
    func retried() async throws {
        let bench = try ServiceBench([.answer(503), .answer(200, [], "hello")]) {
            $0.recovery = [.backoff()]
        }
        let response = try await bench.service.execute(Request(.get, "greeting"))
        #expect(String(decoding: response.bytes, as: UTF8.self) == "hello")
        #expect(bench.transport.sent.map(\.target) == ["/v1/greeting", "/v1/greeting"])
    }

    @Test(
        "A program whose own request for a token failed is told how it failed, and of another error its type only"
    )
    func fetchFailed() async throws {
        struct Locked: Error { let door = "secret" }
        let cases: [(any Error & Sendable, String)] = [
            (Failure(.dnsError, sent: .neverSent, "cannot look up it"), "dns_error: cannot look up it"),
            (Locked(), "Locked"),
        ]
        for (error, reason) in cases {
            let bench = try ServiceBench(
                [],
                policy: { $0.authentication = Authentication(form: .bearer, credential: "login") },
                credentials: [CredentialDefinition("login") { throw error }]
            )
            let failure = await bench.service.outcome(of: Request<Void>(.get, "x")).failure
            #expect(failure?.kind == .credentialsFailed && bench.transport.sent.isEmpty)
            #expect(failure?.detail == "the program could not fetch the credential: \(reason)")
        }
    }

    @Test("N requests in a stream give N outcomes, whatever fails", arguments: JobOrder.allCases)
    func stream(order: JobOrder) async throws {
        let bench = try ServiceBench(
            [],
            answer: { request in
                request.target.hasSuffix("2") ? .answer(500) : .answer(200, [], request.target)
            }
        )
        let requests = AsyncStream { continuation in
            for index in 0..<20 { continuation.yield(Request(.get, "\(index)") as Request<HTTPResponse>) }
            continuation.finish()
        }
        var indices: [Int] = []
        var failed: [Int] = []
        for await outcome in bench.service.outcomes(of: requests, maxConcurrent: 3, order: order) {
            indices.append(outcome.index)
            if case .failure = outcome.result { failed.append(outcome.index) }
        }
        #expect(indices.sorted() == Array(0..<20) && failed.sorted() == [2, 12])
        if order == .input { #expect(indices == Array(0..<20)) }
    }
}
