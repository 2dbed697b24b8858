import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("Every attempt of a durable job is on record before it is sent", .runQueue, .timeLimit(.minutes(5)))
struct AttemptRecordTests {
    /// Two upstreams; whatever fails at the first goes to the second within the run.
    private func bench(
        after earlier: DurableBench? = nil,
        maxAttempts: Int = 10,
        _ answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step
    ) -> DurableBench {
        DurableBench(
            after: earlier,
            { policy in
                policy.upstreams.append(
                    Upstream(name: "two", origin: .unix(path: "/two"), use: .failoverOnly)
                )
                policy.maxAttempts = maxAttempts
                policy.recovery.insert(
                    RecoveryRule(
                        name: "other",
                        on: FailureMatcher([.status(500)]),
                        action: .failover(upstream: 1)
                    ),
                    at: 0
                )
            },
            answer: answer
        )
    }

    @Test("The first stands there as the claim's, a later one with what came of those before it")
    func withinARun() async throws {
        let isHeld = Atomic<Bool>(false)
        let first = bench { request in
            if request.upstream.name == "one" { return .answer(500) }
            isHeld.store(true, ordering: .relaxed)
            return .hold
        }
        try await first.start()
        let id = try await first.submit()
        await first.until { isHeld.load(ordering: .relaxed) }
        let running = try #require(try await first.store.job(id))
        #expect(running.begun?.upstream == "two" && running.attempts == 1)
        let next = bench(after: first) { _ in .answer(200) }
        try await next.start()
        try await next.job(id, is: .succeeded)
        let attempts = try await next.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.upstream) == ["one", "two", "one"])
        #expect(attempts.map(\.failure?.kind) == [.httpStatus, .interrupted, nil])
        #expect(attempts.map(\.next) == [.failover(to: "two"), nil, nil])
        _ = await first.stop()
        #expect(await next.stop())
    }

    @Test("One that cannot go on record is not sent, and costs nothing")
    func unrecorded() async throws {
        let bench = bench { $0.upstream.name == "one" ? .answer(500) : .answer(200) }
        bench.faults.failBegin(StoreError(.full, "there is no room"))
        try await bench.start()
        let id = try await bench.submit()
        try await bench.job(id, is: .retrying)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one"])
        #expect(try await bench.store.job(id)?.attempts == 1)
        await bench.until { bench.time.sleeperCount > 0 }
        bench.time.advance(by: .seconds(2))
        try await bench.job(id, is: .succeeded)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one", "one", "two"])
        #expect(await bench.stop())
    }

    @Test("Under a claim that was lost with the attempt before none is sent")
    func lost() async throws {
        let faults = Mutex<StoreFaults?>(nil)
        let bench = bench { request in
            guard request.upstream.name == "one" else { return .answer(200) }
            faults.withLock { $0?.loseClaims(upTo: 1) }
            return .answer(500)
        }
        faults.withLock { $0 = bench.faults }
        try await bench.start()
        let id = try await bench.submit()
        try await bench.job(id, is: .retrying)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one"])
        await bench.until { bench.time.sleeperCount > 0 }
        bench.time.advance(by: .seconds(2))
        try await bench.job(id, is: .succeeded)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one", "one", "two"])
        #expect(await bench.stop())
    }

    @Test("A job that is allowed one attempt is not sent again after a crash cut it short")
    func spent() async throws {
        let first = bench(maxAttempts: 1) { _ in .hold }
        try await first.start()
        let id = try await first.submit()
        await first.until { first.transport.heldCount == 1 }
        let next = bench(after: first, maxAttempts: 1) { _ in .answer(200) }
        try await next.start()
        let job = try await next.job(id, is: .dead)
        #expect(job.end == .exhausted && job.attempts == 1 && job.failureKind == .interrupted)
        #expect(next.sent.isEmpty)
        _ = await first.stop()
        #expect(await next.stop())
    }

    @Test("A job that is allowed two attempts is not sent again after two crashes cut them short")
    func spentTwice() async throws {
        var last = bench(maxAttempts: 2) { _ in .hold }
        try await last.start()
        let id = try await last.submit()
        await last.until { [last] in last.transport.heldCount == 1 }
        var gone = [last]
        last = bench(after: last, maxAttempts: 2) { _ in .hold }
        try await last.start()
        await last.until { [last] in last.transport.heldCount == 1 }
        gone.append(last)
        last = bench(after: last, maxAttempts: 2) { _ in .answer(200) }
        try await last.start()
        let job = try await last.job(id, is: .dead)
        #expect(job.end == .exhausted && job.attempts == 2 && last.sent.isEmpty)
        for bench in gone { _ = await bench.stop() }
        #expect(await last.stop())
    }

    @Test("A job that is superseded while it runs gets no other attempt, and the newer one comes after it")
    func superseded() async throws {
        let isHeld = Atomic<Bool>(false)
        let bench = bench { request in
            guard request.target.contains("old") else { return .answer(200) }
            if isHeld.exchange(true, ordering: .relaxed) { return .answer(500) }
            return .hold
        }
        try await bench.start()
        let key = ("Waystation-Supersede-Key", "k")
        let old = try await bench.submit([key], target: "old")
        await bench.until { bench.transport.heldCount == 1 }
        let new = try await bench.submit([key], target: "new")
        try await bench.until { try await bench.store.job(new)?.reason == .ordering }
        let blocker = bench.jobs.blocker(of: try #require(try await bench.store.job(new)))
        #expect(blocker?.reason == "ordering" && blocker?.detail.contains("supersedes") == true)
        bench.transport.release()
        try await bench.job(new, is: .succeeded)
        #expect(try await bench.store.job(old)?.end == .superseded)
        #expect(bench.sent == ["/old", "/new"])
        #expect(bench.feed(.jobCancelled).map(\.report?.end) == [.superseded])
        #expect(await bench.stop())
    }
}
