import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("Jobs that end without being sent", .runQueue, .timeLimit(.minutes(5)))
struct DurableEndTests {
    private func unsent(_ bench: DurableBench) -> [JobReport] { bench.ends.filter { $0.context == nil } }

    @Test("A superseded job is told of and counted, and wakes who waits for it and nobody else")
    func superseded() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "maintenance", for: nil)
        let key = [("Waystation-Supersede-Key", "\"latest\"")]
        let old = try await bench.submit(key)
        let bystander = try await bench.submit()
        func wait(for id: JobID) -> Task<JobState?, Never> {
            Task {
                let end = bench.time.now().advanced(by: .seconds(5))
                return try? await bench.jobs.job(id, changedSince: nil, by: end, bench.time).state
            }
        }
        let looks = bench.faults.looks.load(ordering: .relaxed)
        let first = wait(for: old)
        let others = (0..<20).map { _ in wait(for: bystander) }
        await bench.until { bench.faults.looks.load(ordering: .relaxed) - looks >= 21 }
        let new = try await bench.submit(key)
        #expect(await first.value == .cancelled)
        await untilIdle()
        #expect(bench.faults.looks.load(ordering: .relaxed) - looks == 22)
        let told = bench.feed(.jobCancelled)
        #expect(
            told.map(\.job) == [old] && told.map(\.report?.end) == [.superseded] && told.map(\.user) == [1000]
        )
        #expect(unsent(bench).map(\.id) == [old] && unsent(bench).map(\.end) == [.superseded])
        let counters = try #require(bench.engine.snapshot.routes["hooks"]).state.figures
        #expect(counters[.cancelled] == 1 && counters.requests == 1)
        #expect(try await bench.store.job(new)?.state == .queued)
        bench.time.advance(by: .seconds(6))
        for other in others { _ = await other.value }
        #expect(await bench.stop())
    }

    @Test("A job that a crash ended is told of once, before anything is delivered")
    func crashed() async throws {
        let first = DurableBench { _ in .hold }
        try await first.start()
        let id = try await first.submit(method: .post)
        await first.until { first.transport.heldCount == 1 }

        let bench = DurableBench(after: first) { _ in .answer(200) }
        try await bench.start()
        #expect(bench.feed(.jobDead).map(\.job) == [id])
        #expect(bench.feed(.jobDead).map(\.report?.end) == [.outcomeUnknown])
        #expect(unsent(bench).map(\.state) == [.dead])
        let state = try #require(bench.engine.snapshot.routes["hooks"]).state
        #expect(
            state.figures[.failed] == 1
                && state.health(at: bench.time.wallMilliseconds()).condition(pending: 0) == .ok
        )
        // Both tell the time by one clock: only the last of them leaves nobody behind.
        _ = await first.stop()
        #expect(await bench.stop())
    }

    @Test(
        "After a crash a job that its route repeated goes on only if the rules in force repeat it",
        arguments: [true, false]
    )
    func otherRules(repeats: Bool) async throws {
        func policy(_ methods: RepeatableMethods) -> (inout RoutePolicy) -> Void {
            { policy in
                var retry = RetryPolicy()
                retry.methods = methods
                policy.recovery = [RecoveryRule(name: "r", on: FailureMatcher([.any]), action: .retry(retry))]
            }
        }
        let first = DurableBench(policy(.any)) { _ in .hold }
        try await first.start()
        let id = try await first.submit(method: .post)
        await first.until { first.transport.heldCount == 1 }

        let bench = DurableBench(after: first, policy(repeats ? .any : .idempotentOrKeyed)) { _ in
            .answer(200)
        }
        try await bench.start()
        let job = try await bench.job(id, is: repeats ? .succeeded : .dead)
        #expect(job.end == (repeats ? nil : .outcomeUnknown) && bench.sent.count == (repeats ? 1 : 0))
        _ = await first.stop()
        #expect(await bench.stop())
    }
}
