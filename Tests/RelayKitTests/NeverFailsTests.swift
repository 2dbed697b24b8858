import RelayKit
import RelayTestSupport
import Testing

@Suite("A policy that never fails", .closedRunQueue, .timeLimit(.minutes(5)))
struct NeverFailsTests {
    private struct Odd: Error {}

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
        #expect(await bench.run().source == .placeholder && bench.service.breaches == 0)
    }

    @Test(
        "A failure that a program's own code makes is a breach: counted, told to the caller, and no more than that",
        .clauses("N-14", "UC-03")
    )
    func breached() async throws {
        let stops = try bench(
            [.answer(500), .answer(200)],
            before: [.advice { _, _, _ in .stop(Failure("own", sent: .answered, "")) }]
        )
        #expect(await stops.run().source == nil && stops.service.breaches == 1)
        #expect(await stops.run().source == .upstream && stops.service.breaches == 1)
        for phase in PreparationPhase.allCases {
            for error in [Odd(), CancellationError()] as [any Error & Sendable] {
                let unprepared = try bench([], preparation: [Prepare(phase) { _, _ in throw error }])
                let failure = await unprepared.run().failure
                #expect(failure?.kind == .preparation && unprepared.service.breaches == 1)
                #expect(failure?.underlying.map { type(of: $0) == type(of: error) } == true)
            }
        }
        let unreadable = try bench([.answer(500)])
        let failure = await unreadable.failure(of: Request.plain().map { _ -> Int in throw Odd() })
        #expect(failure?.kind == .decoding && unreadable.service.breaches == 1)
    }

    @Test("A caller that wants no fallback, or went away, has no promise")
    func noPromise() async throws {
        let bench = try bench([.answer(500), .hold])
        var request = Request.plain()
        request.options.allowsFallback = false
        #expect(await bench.run(request).source == nil)
        let job = Task { await bench.run() }
        await untilIdle()
        job.cancel()
        #expect(await job.joined().failure?.kind == .cancelled && bench.service.breaches == 0)
    }

    @Test("A request's own placeholder keeps the promise too")
    func ownPlaceholder() async throws {
        let bench = try bench([], preparation: [Prepare(.job) { _, _ in throw Odd() }])
        var request = Request.plain()
        request.placeholder = { _ in HTTPResponse(status: 204) }
        #expect(await bench.run(request).source == .placeholder && bench.service.breaches == 0)
    }
}
