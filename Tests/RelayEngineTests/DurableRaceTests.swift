import RelayBase
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("The fate of a job between the store's word and its hearing", .runQueue, .timeLimit(.minutes(5)))
struct DurableRaceTests {
    private static func script(
        _ steps: [ScriptedTransport.Step]
    )
        -> @Sendable (OutboundRequest) ->
        ScriptedTransport.Step
    {
        let rest = Script(steps)
        return { _ in rest.next() }
    }

    private final class Script: Sendable {
        private let steps: Mutex<[ScriptedTransport.Step]>

        init(_ steps: [ScriptedTransport.Step]) { self.steps = Mutex(steps) }

        func next() -> ScriptedTransport.Step {
            steps.withLock { $0.isEmpty ? .answer(200) : $0.removeFirst() }
        }
    }

    @Test(
        "A job that is claimed again before its settlement is heard of can still be cancelled and waited for"
    )
    func claimedAgain() async throws {
        let bench = DurableBench(
            { policy in
                var retry = RetryPolicy()
                retry.maxAttempts = 4
                retry.backoff = Backoff(schedule: .list([.zero]), jitter: .none)
                policy.recovery = [
                    RecoveryRule(name: "at once", on: FailureMatcher([.any]), action: .retry(retry))
                ]
            },
            answer: DurableRaceTests.script([.answer(500), .hold])
        )
        let isHeard = Atomic<Bool>(false)
        bench.faults.after(.settle) {
            await untilIdle()
            isHeard.store(true, ordering: .relaxed)
        }
        try await bench.start()
        let id = try await bench.submit()
        await bench.until { isHeard.load(ordering: .relaxed) }
        try #require(bench.jobs.inFlight == 1)
        _ = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        try await bench.job(id, is: .cancelled)
        #expect(await bench.stop())
    }

    @Test(
        "A stop waits for claims that are on their way, and sends nothing of them",
        arguments: [Method.put, .post]
    )
    func claimedAtStop(method: Method) async throws {
        let bench = DurableBench { _ in .answer(200) }
        let jobs = bench.jobs
        let seen = Atomic<Int>(-1)
        bench.faults.after(.claim) {
            jobs.drain()
            seen.store(jobs.inFlight, ordering: .relaxed)
        }
        try await bench.start()
        // One that is due later is claimed by itself.
        let id = try await bench.submit([("Waystation-Delay", "1s")], method: method)
        await untilIdle()
        bench.time.advance(by: .seconds(1))
        await bench.until { seen.load(ordering: .relaxed) >= 0 && jobs.inFlight == 0 }
        let job = try #require(try await bench.store.job(id))
        // The other route's first look for work may be on its way too.
        #expect(seen.load(ordering: .relaxed) >= 1)
        #expect(job.state == .queued && job.attempts == 0 && bench.sent.isEmpty)
        #expect(await bench.stop())
    }

    @Test("A cancellation that comes as a run ends does not reach the job's next life")
    func cancelledAtEnd() async throws {
        let bench = DurableBench(answer: DurableRaceTests.script([.hold, .answer(500), .answer(200)]))
        try await bench.start()
        let id = try await bench.submit()
        await bench.until { bench.transport.heldCount == 1 }
        let transport = bench.transport
        bench.faults.after(.apply(.cancel)) {
            transport.release()
            await untilIdle()
        }
        _ = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        try await bench.job(id, is: .cancelled)
        _ = try await bench.jobs.operations.act(.retry, on: id, by: 0)
        await bench.until { bench.ends.count == 2 }
        #expect(try await bench.store.job(id)?.state == .succeeded)
        #expect(await bench.stop())
    }

    @Test("A pause that comes while the one before it ends is in force afterwards, on disk too")
    func pausedAgain() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "first", for: nil)
        let jobs = bench.jobs
        let second = Mutex<Task<Void, Never>?>(nil)
        bench.faults.after(.apply(.release)) {
            let task = Task {
                do throws(Problem) {
                    try await jobs.pauses.pause("hooks", reason: "second", for: nil)
                } catch {
                    Issue.record("\(error)")
                }
            }
            second.withLock { $0 = task }
            await untilIdle()
        }
        try await bench.jobs.pauses.resume("hooks")
        await second.withLock { $0 }?.value
        #expect(bench.jobs.pauses.pause(of: "hooks")?.reason == "second")
        #expect(try await bench.store.pauses()["hooks"]?.reason == "second")
        #expect(await bench.stop())
    }
}
