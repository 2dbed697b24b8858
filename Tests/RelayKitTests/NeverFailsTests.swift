import RelayKit
import RelayTestSupport
import Testing

@Suite("A policy that never fails", .runQueue, .timeLimit(.minutes(5)))
struct NeverFailsTests {
    private func bench(
        _ steps: [ScriptedTransport.Step],
        preparation: [any PreparationStrategy] = [],
        before rules: [RecoveryRule] = []
    ) throws -> ServiceBench {
        try ServiceBench(
            steps,
            policy: {
                $0.neverFails = true
                $0.recovery = rules + [.placeholder(CannedAnswer(status: 203))]
            },
            preparation: preparation
        )
    }

    private func run(
        _ bench: ServiceBench,
        _ change: (inout Request<HTTPResponse>) -> Void = { _ in }
    ) async -> JobOutcome<HTTPResponse> {
        var request: Request<HTTPResponse> = Request(.get, "x")
        change(&request)
        return await bench.service.outcome(of: request)
    }

    @Test(
        "The caller gets a marked answer and nothing is breached, whatever the upstream does",
        .clauses("N-14"),
        arguments: [
            .answer(500), .answer(404), .answer(302), .fail(.dnsError, .neverSent),
            .fail(.httpResponseTimeout, .unknown), .fail(.tlsCertificateError, .neverSent),
        ] as [ScriptedTransport.Step]
    )
    func answered(step: ScriptedTransport.Step) async throws {
        let bench = try bench([step])
        let outcome = await run(bench)
        #expect(outcome.source == .placeholder && bench.service.breaches == 0)
    }

    @Test(
        "A failure that a program's own code makes is a breach: counted, told to the caller, and no more than that",
        .clauses("N-14")
    )
    func breached() async throws {
        struct Odd: Error {}
        let stops = try bench(
            [.answer(500), .answer(200)],
            before: [.strategy(Advice { _, _, _ in .stop(Failure("own", sent: .answered, "")) })]
        )
        #expect(await run(stops).source == nil)
        #expect(stops.service.breaches == 1)
        #expect(await run(stops).source == .upstream)
        #expect(stops.service.breaches == 1)
        for phase in PreparationPhase.allCases {
            let unprepared = try bench([], preparation: [Prepare(phase) { _, _ in throw Odd() }])
            let outcome = await run(unprepared)
            let failure = #expect(throws: Failure.self) { try outcome.result.get() }
            #expect(failure?.kind == .preparation && failure?.underlying is Odd)
            #expect(unprepared.service.breaches == 1)
        }
        let unreadable = try bench([.answer(500)])
        let outcome = await unreadable.service.outcome(
            of: (Request(.get, "x") as Request<HTTPResponse>).map { _ -> Int in throw Odd() }
        )
        #expect(outcome.source == nil && unreadable.service.breaches == 1)
    }

    @Test("A caller that wants no fallback, or went away, has no promise")
    func noPromise() async throws {
        let bench = try bench([.answer(500), .hold])
        #expect(await run(bench) { $0.options.allowsFallback = false }.source == nil)
        let job = Task { await run(bench) }
        await untilIdle()
        job.cancel()
        let failure = await #expect(throws: Failure.self) { try await job.joined().result.get() }
        #expect(failure?.kind == .cancelled && bench.service.breaches == 0)
    }

    @Test("A request's own placeholder keeps the promise too")
    func ownPlaceholder() async throws {
        let bench = try bench(
            [],
            preparation: [Prepare(.job) { _, _ in throw Failure("x", sent: .neverSent, "") }]
        )
        let outcome = await run(bench) { $0.placeholder = { _ in HTTPResponse(status: 204) } }
        #expect(outcome.source == .placeholder && bench.service.breaches == 0)
    }

    @Test("The relay tells of every breach, also of one before the first attempt")
    func told() async {
        let route = makeRoute {
            $0.neverFails = true
            $0.recovery = [rule("p", ["any"], placeholder())]
            $0.request.wrap = pointer("/data")
        }
        let bench = Bench([.answer(500), .hold])
        #expect(await bench.perform(on: route).source == .placeholder)
        #expect(breaches(bench) == [])
        var options = JobOptions()
        options.allowsFallback = false
        _ = await bench.perform(.post, on: route, body: .bytes(Array("no json".utf8)), options: options)
        #expect(breaches(bench) == [])
        _ = await bench.perform(.post, on: route, body: .bytes(Array("no json".utf8)))
        #expect(breaches(bench) == ["preparation"])
        let job = Task { await bench.perform(on: route) }
        await untilIdle()
        job.cancel()
        _ = await job.joined()
        #expect(breaches(bench) == ["preparation"])
    }

    private func breaches(_ bench: Bench) -> [String] {
        bench.sink.events.compactMap {
            if case .ended(let report) = $0, report.isBreach { report.failure?.kind.rawValue } else { nil }
        }
    }
}
