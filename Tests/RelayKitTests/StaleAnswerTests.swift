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

    private func text(_ outcome: JobOutcome<HTTPResponse>) -> String? {
        (try? outcome.result.get()).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(
        "A failure is answered with the last good answer, marked and with its age, while it is young enough"
    )
    func stale() async throws {
        let bench = try bench([
            .answer(200, [], "one"), .answer(200, [], "two"), .answer(500), .fail(.dnsError, .neverSent),
            .answer(500),
        ])
        let request: Request<HTTPResponse> = Request(.get, "x")
        for _ in 0..<2 { #expect(await bench.service.outcome(of: request).source == .upstream) }
        bench.time.advance(by: .seconds(59))
        for _ in 0..<2 {
            let outcome = await bench.service.outcome(of: request)
            #expect(outcome.source == .stale && text(outcome) == "two" && outcome.recoveredBy == ["stale"])
            #expect(try outcome.result.get().fields.pairs.map { "\($0.name)=\($0.value)" } == ["Age=59"])
        }
        bench.time.advance(by: .seconds(1))
        let late = await bench.service.outcome(of: request)
        #expect(late.source == nil && late.attempts.last?.rule == nil)
    }

    @Test(
        "Requests that are somebody's own neither leave an answer nor get one",
        arguments: [("Authorization", "Bearer b"), ("Cookie", "b=1"), ("Range", "bytes=0-1")]
    )
    func personal(name: String, value: String) async throws {
        let bench = try bench([.answer(200, [], "mine"), .answer(500), .answer(200, [], "all"), .answer(500)])
        let shared: Request<HTTPResponse> = Request(.get, "x")
        var own = shared
        own.http.fields.append(name, value)
        #expect(text(await bench.service.outcome(of: own)) == "mine")
        #expect(await bench.service.outcome(of: shared).source == nil)
        #expect(text(await bench.service.outcome(of: shared)) == "all")
        #expect(await bench.service.outcome(of: own).source == nil)
    }

    @Test("A field that a step of preparation adds makes a request somebody's own too")
    func prepared() async throws {
        let bench = try bench(
            [.answer(200, [], "mine"), .answer(500)],
            preparation: [
                Prepare(.attempt) { request, _ in
                    var request = request
                    request.fields.append("Authorization", "Bearer b")
                    return request
                }
            ]
        )
        let request: Request<HTTPResponse> = Request(.get, "x")
        #expect(text(await bench.service.outcome(of: request)) == "mine")
        #expect(await bench.service.outcome(of: request).source == nil)
    }

    @Test("A good answer to HEAD or POST stands in for nothing", arguments: [Method.head, .post])
    func methods(method: Method) async throws {
        let bench = try bench([.answer(200, [], "a"), .answer(500), .answer(500)])
        _ = await bench.service.outcome(of: Request(method, "x") as Request<HTTPResponse>)
        #expect(await bench.service.outcome(of: Request(method, "x") as Request<HTTPResponse>).source == nil)
        #expect(await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>).source == nil)
    }

    @Test("An answer that the program did not take does not replace the good one")
    func notTaken() async throws {
        struct Odd: Error {}
        let bench = try bench([.answer(200, [], "good"), .answer(200, [], "odd")])
        var request: Request<HTTPResponse> = Request(.get, "x")
        request.successValidator = { if $0.response.bytes == Array("odd".utf8) { throw Odd() } }
        #expect(text(await bench.service.outcome(of: request)) == "good")
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.source == .stale && text(outcome) == "good")
    }

    @Test("A caller that wants no fallback gets the failure; rules below are read where nothing is kept")
    func optOut() async throws {
        let bench = try bench([.answer(500), .answer(200, [], "good"), .answer(500)]) {
            $0.recovery.append(.placeholder(CannedAnswer(status: 200)))
        }
        var request: Request<HTTPResponse> = Request(.get, "x")
        #expect(await bench.service.outcome(of: request).source == .placeholder)
        _ = await bench.service.outcome(of: request)
        request.options.allowsFallback = false
        #expect(await bench.service.outcome(of: request).source == nil)
    }

    @Test("A redirect that was followed is kept under what was asked for")
    func redirected() async throws {
        let bench = try bench([.answer(302, [("Location", "y")]), .answer(200, [], "y"), .answer(500)]) {
            $0.response.redirects = .follow
        }
        let request: Request<HTTPResponse> = Request(.get, "x")
        _ = await bench.service.outcome(of: request)
        #expect(text(await bench.service.outcome(of: request)) == "y")
    }
}

@Suite("Upstreams that are left alone for a while", .timeLimit(.minutes(5)))
struct CooldownTests {
    private func route(_ cooldown: Duration = .seconds(30)) -> Route {
        makeRoute {
            $0.upstreams[1] = Upstream(
                name: "two",
                origin: .tcp(host: "two.example", port: 443, isTLS: true),
                use: .failoverOnly,
                cooldown: cooldown
            )
            $0.recovery = [rule("f", ["any"], .failover(upstream: 1))]
        }
    }

    private func perform(_ bench: Bench, _ route: Route, _ memory: RouteMemory) async -> Outcome {
        await bench.perform(on: route, memory: memory)
    }

    @Test("An upstream that failed is entered again only when its cool-down is over")
    func cooldown() async {
        let bench = Bench([]) { _ in .answer(503) }
        let route = route()
        let memory = RouteMemory()
        #expect(await perform(bench, route, memory).attempts.map(\.upstream) == ["one", "two"])
        bench.time.advance(by: .nanoseconds(29_999_999_999))
        #expect(await perform(bench, route, memory).attempts.map(\.upstream) == ["one"])
        bench.time.advance(by: .nanoseconds(1))
        #expect(await perform(bench, route, memory).attempts.map(\.upstream) == ["one", "two"])
    }

    @Test(
        "A fault of the request says nothing about the upstream",
        arguments: [
            (.answer(404), false), (.answer(401), false), (.answer(302), false), (.answer(500), true),
            (.fail(.connectionRefused, .neverSent), true), (.fail(.httpResponseTimeout, .unknown), true),
            (.fail(.tlsCertificateError, .neverSent), true), (.fail("own_kind", .unknown), false),
        ] as [(ScriptedTransport.Step, Bool)]
    )
    func reasons(step: ScriptedTransport.Step, cools: Bool) async {
        let bench = Bench([]) { _ in step }
        let route = route()
        let memory = RouteMemory()
        _ = await perform(bench, route, memory)
        #expect(memory.cooling(route, now: bench.time.now()) == (cools ? [1] : []))
    }

    @Test("Without a cool-down every job tries")
    func none() async {
        let bench = Bench([]) { _ in .answer(503) }
        let memory = RouteMemory()
        for _ in 0..<2 { #expect(await perform(bench, route(.zero), memory).attempts.count == 2) }
    }
}
