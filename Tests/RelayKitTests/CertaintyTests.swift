import RelayKit
import RelayTestSupport
import Testing

@Suite("Certainty about a program's requests", .closedRunQueue, .timeLimit(.minutes(5)))
struct CertaintyTests {
    @Test(
        "A POST whose answer was lost is asked about, and what the upstream has is the program's answer",
        .clauses("N-17")
    )
    func verified() async throws {
        var (found, absent) = (SuccessRule(), SuccessRule())
        found.statuses = StatusSet(codes: [200])
        absent.statuses = StatusSet(codes: [404])
        let asked = try Verification(path: "orders/{route}", found: found, absent: absent)
        for (look, sent) in [(ScriptedTransport.Step.answer(200), 2), (.answer(404), 3)] {
            let bench = try ServiceBench([.fail(.httpResponseTimeout, .unknown), look, .answer(201)]) {
                $0.verification = asked
                $0.recovery = [.backoff(on: [.any])]
            }
            let outcome = await bench.run(.plain(.post))
            #expect(outcome.source == (sent == 2 ? .verified : .upstream))
            #expect(bench.transport.sent.count == sent)
            #expect(bench.transport.sent[1].target == "/v1/orders/test")
        }
    }

    @Test("An operation that the upstream has begun is followed to its end", .clauses("N-18"))
    func followed() async throws {
        let bench = try ServiceBench([
            .answer(202, [("Location", "/v1/jobs/7")]), .answer(202), .answer(200, [], "done"),
        ]) { $0.following = Following() }
        let outcome = await bench.run(.plain(.post))
        #expect(outcome.source == .followed && bench.transport.sent.map(\.method) == [.post, .get, .get])
        #expect(bench.time.now().nanoseconds >= Duration.seconds(4).saturatedNanoseconds)
    }

    @Test("A rule and a breaker that report tell what they would have done", .clauses("N-20"))
    func reported() async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [.backoff(on: [503])]
                $0.recovery[0].reports = true
                $0.traffic.breaker.consecutiveFailures = 2
                $0.traffic.breaker.reports = true
            },
            answer: { _ in .answer(503) }
        )
        var outcomes: [PlainOutcome<HTTPResponse>] = []
        for _ in 0..<4 { outcomes.append(await bench.run()) }
        #expect(bench.transport.sent.count == 4 && bench.time.waits.isEmpty)
        #expect(outcomes.last?.attempts[0].heldBack.map(\.rule) == ["circuit_breaker", "backoff"])
    }
}
