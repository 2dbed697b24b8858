import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A program's code that does not end", .runQueue, .timeLimit(.minutes(5)))
struct HungProgramTests {
    /// Waits, cancelled or not, until the test lets it go.
    private final class Trap: Sendable {
        private let held = Mutex<[CheckedContinuation<Void, Never>]>([])

        var count: Int { held.withLock { $0.count } }

        func fall() async {
            await withCheckedContinuation { continuation in
                held.withLock { $0.append(continuation) }
            }
        }

        func release() {
            for continuation in held.withLock({ $0 }) { continuation.resume() }
        }
    }

    /// Moves the clock until nothing is asleep any more or `limit` has passed.
    private func run(_ bench: ServiceBench, _ trap: Trap, limit: Duration) async {
        await untilIdle()
        bench.time.advance(by: limit - .seconds(1))
        await untilIdle()
        bench.time.advance(by: .seconds(1))
    }

    @Test("A strategy that hangs ends with the job's deadline, and the rules below are read")
    func strategy() async throws {
        let trap = Trap()
        let bench = try ServiceBench(
            [.answer(503), .answer(200)],
            policy: {
                $0.recovery = [
                    .strategy(
                        Advice { _, request, _ in
                            await trap.fall()
                            return .retry(request, after: .zero)
                        }
                    ), .placeholder(CannedAnswer(status: 203)),
                ]
            },
            mode: .manual
        )
        let job = Task { await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>) }
        await run(bench, trap, limit: .seconds(31))
        #expect(await job.joined().source == .placeholder)
        #expect(bench.transport.sent.count == 1 && bench.service.inFlight == 0)
        trap.release()
    }

    @Test("A strategy that heeds its cancellation still has its say at the deadline")
    func heeds() async throws {
        let asked = Mutex(false)
        let bench = try ServiceBench(
            [.answer(503)],
            policy: { policy in
                policy.recovery = [
                    .strategy(
                        Advice { _, _, _ in
                            asked.withLock { $0 = true }
                            await untilCancelled()
                            return .stop(Failure("own", sent: .answered, "stopped"))
                        }
                    )
                ]
            },
            mode: .manual
        )
        let job = Task { await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>) }
        await untilIdle()
        bench.time.advance(by: .seconds(30))
        let failure = await #expect(throws: Failure.self) { try await job.joined().result.get() }
        #expect(failure?.kind == "own")
    }

    @Test(
        "A step of preparation that hangs fails the job as not prepared",
        arguments: PreparationPhase.allCases
    )
    func preparation(phase: PreparationPhase) async throws {
        let trap = Trap()
        let bench = try ServiceBench(
            [.answer(200)],
            mode: .manual,
            preparation: [
                Prepare(phase) { request, _ in
                    await trap.fall()
                    return request
                }
            ]
        )
        let job = Task { await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>) }
        await run(bench, trap, limit: .seconds(phase == .job ? 31 : 11))
        let failure = await #expect(throws: Failure.self) { try await job.joined().result.get() }
        #expect(failure?.kind == .preparation && failure?.detail.contains("deadline") == true)
        #expect(bench.transport.sent.isEmpty)
        trap.release()
    }

    @Test("A caller that goes away does not wait for its program's code")
    func cancelled() async throws {
        let trap = Trap()
        let bench = try ServiceBench(
            [],
            mode: .manual,
            preparation: [
                Prepare(.attempt) { request, _ in
                    await trap.fall()
                    return request
                }
            ]
        )
        let job = Task { await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>) }
        await untilIdle()
        job.cancel()
        let failure = await #expect(throws: Failure.self) { try await job.joined().result.get() }
        #expect(failure?.kind == .cancelled && bench.transport.sent.isEmpty)
        trap.release()
    }

    @Test("A step of preparation that throws as if cancelled has failed; nobody went away")
    func throwsCancellation() async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                $0.neverFails = true
                $0.recovery = [.placeholder(CannedAnswer(status: 203))]
            },
            preparation: [Prepare(.attempt) { _, _ in throw CancellationError() }]
        )
        let failure = await #expect(throws: Failure.self) {
            try await bench.service.execute(Request(.get, "x") as Request<HTTPResponse>)
        }
        #expect(failure?.kind == .preparation && failure?.underlying is CancellationError)
        #expect(bench.service.breaches == 1)
    }
}
