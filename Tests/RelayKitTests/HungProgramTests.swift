import RelayKit
import RelayTestSupport
import Testing

@Suite("A program's code that does not end", .closedRunQueue, .timeLimit(.minutes(5)))
struct HungProgramTests {
    /// Moves the clock until nothing is asleep any more or `limit` has passed.
    private func run(_ bench: ServiceBench, limit: Duration) async {
        await untilIdle()
        bench.time.advance(by: limit - .seconds(1))
        await untilIdle()
        bench.time.advance(by: .seconds(1))
    }

    @Test("A strategy that hangs ends with the job's deadline, and the rules below are read")
    func strategy() async throws {
        let gate = Gate()
        let bench = try ServiceBench(
            [.answer(503), .answer(200)],
            policy: {
                $0.recovery = [
                    .advice { _, request, _ in
                        await gate.pass()
                        return .retry(request, after: .zero)
                    }, .placeholder(CannedAnswer(status: 203)),
                ]
            },
            mode: .manual
        )
        let job = Task { await bench.run() }
        await run(bench, limit: .seconds(31))
        #expect(await job.joined().source == .placeholder)
        #expect(bench.transport.sent.count == 1 && bench.service.inFlight == 0)
        gate.open()
    }

    @Test("A strategy that heeds its cancellation still has its say at the deadline")
    func heeds() async throws {
        let bench = try ServiceBench(
            [.answer(503)],
            policy: { policy in
                policy.recovery = [
                    .advice { _, _, _ in
                        await untilCancelled()
                        return .stop(Failure("own", sent: .answered, "stopped"))
                    }
                ]
            },
            mode: .manual
        )
        let job = Task { await bench.run() }
        await untilIdle()
        bench.time.advance(by: .seconds(30))
        #expect(await job.joined().failure?.kind == "own")
    }

    @Test(
        "A step of preparation that hangs, heeding its cancellation or not, fails the job as not prepared",
        arguments: PreparationPhase.allCases,
        [true, false]
    )
    func preparation(phase: PreparationPhase, heeds: Bool) async throws {
        let gate = Gate()
        let bench = try ServiceBench(
            [.answer(200)],
            mode: .manual,
            preparation: [
                Prepare(phase) { request, _ in
                    if heeds {
                        await untilCancelled()
                        throw CancellationError()
                    }
                    await gate.pass()
                    return request
                }
            ]
        )
        let job = Task { await bench.run() }
        await run(bench, limit: .seconds(phase == .job ? 31 : 11))
        let failure = await job.joined().failure
        #expect(failure?.kind == .preparation && failure?.sent == .neverSent)
        #expect(heeds || failure?.detail.contains("deadline") == true)
        #expect(bench.transport.sent.isEmpty)
        gate.open()
    }

    @Test("A caller that goes away does not wait for its program's code")
    func cancelled() async throws {
        let gate = Gate()
        let bench = try ServiceBench(
            [],
            mode: .manual,
            preparation: [
                Prepare(.attempt) { request, _ in
                    await gate.pass()
                    return request
                }
            ]
        )
        let job = Task { await bench.run() }
        await untilIdle()
        job.cancel()
        #expect(await job.joined().failure?.kind == .cancelled && bench.transport.sent.isEmpty)
        gate.open()
    }
}
