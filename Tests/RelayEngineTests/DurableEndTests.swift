import RelayCore
import RelayEngine
import RelayTestSupport
import Synchronization
import Testing

@Suite("Jobs that end without being sent", .timeLimit(.minutes(1)))
struct DurableEndTests {
    private func unsent(_ bench: DurableBench) -> [EndedJob] {
        bench.sink.events.compactMap { if case .durableEndedUnsent(let job) = $0 { job } else { nil } }
    }

    @Test("A superseded job is told of and counted, and wakes who waits for it and nobody else")
    func superseded() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        try await bench.jobs.pause("hooks", reason: "maintenance", for: nil)
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
        await bench.settle()
        let new = try await bench.submit(key)
        #expect(await first.value == .cancelled)
        await bench.settle()
        #expect(bench.faults.looks.load(ordering: .relaxed) - looks == 22)
        let told = bench.feed(.jobCancelled)
        #expect(told.map(\.job) == [old] && told.map(\.end) == [.superseded] && told.map(\.user) == [1000])
        #expect(unsent(bench).map(\.id) == [old] && unsent(bench).map(\.reason) == [.superseded])
        let counters = try #require(bench.engine.snapshot.routes["hooks"]).state.counters
        #expect(counters.cancelled == 1 && counters.requests == 1)
        #expect(try await bench.store.job(new)?.state == .queued)
        bench.time.advance(by: .seconds(6))
        for other in others { _ = await other.value }
        #expect(await bench.stop())
    }

    @Test("A job that a crash ended is told of as soon as there is somebody to tell")
    func crashed() async throws {
        let first = DurableBench { _ in .hold }
        try await first.start()
        let id = try await first.submit(method: .post)
        await first.until { first.transport.heldCount == 1 }

        let bench = DurableBench(after: first) { _ in .answer(200) }
        #expect(bench.feed(.jobDead).isEmpty && unsent(bench).isEmpty)
        try await bench.start()
        #expect(bench.feed(.jobDead).map(\.job) == [id])
        #expect(bench.feed(.jobDead).map(\.end) == [.outcomeUnknown])
        #expect(unsent(bench).map(\.state) == [.dead])
        let state = try #require(bench.engine.snapshot.routes["hooks"]).state
        #expect(state.counters.failed == 1 && state.counters.condition(pending: 0) == .ok)
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

    @Test("What ends before the start is kept within bounds, and the rest is counted")
    func many() async throws {
        let bench = DurableBench { _ in .answer(200) }
        let jobs = (0..<5_000).map { number in
            EndedJob(
                id: JobID(milliseconds: Int64(number), random: (0, 0)),
                route: "hooks",
                user: nil,
                state: .dead,
                reason: .poison
            )
        }
        bench.jobs.ended(jobs)
        try await bench.start()
        let untold = bench.sink.events.compactMap { event in
            if case .durableEndsUntold(let count) = event { count } else { nil }
        }
        #expect(unsent(bench).count == 4_096 && untold == [904])
        #expect(await bench.stop())
    }
}
