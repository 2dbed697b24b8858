import RelayKit
import RelayTestSupport
import Testing

@Suite("Stale answers in place of failures", .timeLimit(.minutes(5)))
struct StaleAnswerTests {
    private func bench(
        _ steps: [ScriptedTransport.Step],
        preparation: [any PreparationStrategy] = [],
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) throws -> ServiceBench {
        try ServiceBench(
            steps,
            policy: {
                $0.response.keepsLastGood = LastGoodRule(maxAge: .seconds(60))
                $0.recovery = [.stale()]
                change(&$0)
            },
            preparation: preparation
        )
    }

    @Test(
        "A failure is answered with the last good answer, marked and with its age, while it is young enough",
        .clauses("N-14")
    )
    func stale() async throws {
        let bench = try bench([
            .answer(200, [], "one"), .answer(200, [], "two"), .answer(500), .fail(.dnsError, .neverSent),
            .answer(500),
        ])
        for _ in 0..<2 { #expect(await bench.run().source == .upstream) }
        bench.time.advance(by: .seconds(59))
        for _ in 0..<2 {
            let outcome = await bench.run()
            #expect(outcome.source == .stale && outcome.value?.text == "two")
            #expect(outcome.recoveredBy == ["stale"])
            #expect(outcome.value?.fields.pairs.map { "\($0.name)=\($0.value)" } == ["Age=59"])
        }
        bench.time.advance(by: .seconds(1))
        let late = await bench.run()
        #expect(late.source == nil && late.attempts.last?.rule == nil)
    }

    @Test(
        "Requests that are somebody's own, also by a step of preparation, neither leave an answer nor get one",
        arguments: [false, true]
    )
    func personal(isPrepared: Bool) async throws {
        let step = Prepare.changing { request, _ in
            if request.target == "own" { request.fields.append("Authorization", "Bearer b") }
            request.target = "x"
        }
        let bench = try bench(
            [.answer(200, [], "mine"), .answer(500), .answer(200, [], "all"), .answer(500)],
            preparation: isPrepared ? [step] : []
        )
        let own =
            isPrepared
            ? PlainRequest<HTTPResponse>(.get, "own")
            : Request.plain().addingHeaders(["Authorization": "Bearer b"])
        #expect(await bench.run(own).value?.text == "mine")
        #expect(await bench.run().source == nil)
        #expect(await bench.run().value?.text == "all")
        #expect(await bench.run(own).source == nil)
    }

    @Test("An answer that the program did not take does not replace the good one")
    func notTaken() async throws {
        let bench = try bench([.answer(200, [], "good"), .answer(200, [], "odd")])
        var request = Request.plain()
        request.successValidator = { if $0.response.text == "odd" { throw Problem(code: "odd") } }
        #expect(await bench.run(request).value?.text == "good")
        let outcome = await bench.run(request)
        #expect(outcome.source == .stale && outcome.value?.text == "good")
    }

    @Test("A caller that wants no fallback gets the failure; rules below are read where nothing is kept")
    func optOut() async throws {
        let bench = try bench([.answer(500), .answer(200, [], "good"), .answer(500)]) {
            $0.recovery.append(.placeholder(CannedAnswer(status: 200)))
        }
        #expect(await bench.run().source == .placeholder)
        _ = await bench.run()
        var request = Request.plain()
        request.options.allowsFallback = false
        #expect(await bench.run(request).source == nil)
    }

    @Test("A redirect that was followed is kept under what was asked for")
    func redirected() async throws {
        let bench = try bench([.answer(302, [("Location", "y")]), .answer(200, [], "y"), .answer(500)]) {
            $0.response.redirects = .follow
        }
        _ = await bench.run()
        #expect(await bench.run().value?.text == "y")
    }
}
