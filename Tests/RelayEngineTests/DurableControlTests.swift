import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("The actions of callers and operators on jobs that are kept", .runQueue, .timeLimit(.minutes(5)))
struct DurableControlTests {
    @Test("Jobs that are cancelled together are told of one by one, each once")
    func cancelledTogether() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
        var ids: [JobID] = []
        for _ in 0..<3 { ids.append(try await bench.submit()) }
        var filter = JobFilter()
        filter.route = "hooks"
        let report = try await bench.jobs.operations.act(
            ActionOrder(.cancel, filter, limit: 10, by: .user(0, isBulk: true))
        )
        #expect(report.changed == 3)
        #expect(bench.feed(.jobCancelled).map(\.job) == ids)
        #expect(bench.feed(.jobCancelled).map(\.report?.end) == [.cancelled, .cancelled, .cancelled])
        #expect(bench.engine.snapshot.routes["hooks"]?.state.figures[.cancelled] == 3)
        #expect(await bench.stop())
    }

    @Test("The same key with the same request is the same job; with another request it is refused")
    func idempotency() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let key = [("Idempotency-Key", "\"k\"")]
        let id = try await bench.submit(key, method: .post)
        let again = try await bench.jobs.acceptance.accept(
            try bench.admit(key, method: .post),
            body: .bytes(Array("hello".utf8))
        )
        #expect(again.id == id && again.isReplayed)
        for (method, target, body) in [
            (Method.put, "x", "hello"), (.post, "y", "hello"), (.post, "x", "bye"),
        ] {
            do throws(Problem) {
                try await bench.submit(key, method: method, target: target, body: body)
                Issue.record("another request was taken for the same one")
            } catch {
                #expect(error.code == .idempotencyKeyReused && error.job == id && error.route == "hooks")
            }
        }
        let other = try await bench.submit(key, route: "other", method: .post)
        try await bench.job(id, is: .succeeded)
        try await bench.job(other, is: .succeeded)
        #expect(bench.sent.count == 2 && other != id)
        #expect(await bench.stop())
    }

    @Test("A full queue, a full disk and a failed store are refused as what they are")
    func refused() async throws {
        let bench = DurableBench(maxQueued: 2) { _ in .hold }
        func code() async -> Problem.Code? {
            do throws(Problem) {
                try await bench.submit()
                return nil
            } catch {
                #expect(error.retryAfter != nil && error.route == "hooks")
                return error.code
            }
        }
        bench.faults.failAcceptance(StoreError(.full, "cannot write: no room"))
        #expect(await code() == .storageFull)
        bench.faults.failAcceptance(StoreError(.failed, "cannot write"))
        #expect(await code() == .storageFailed)
        bench.faults.failAcceptance(nil)
        #expect(await code() == nil)
        #expect(await code() == nil)
        #expect(await code() == .queueFull)
        try await bench.start()
        // A job that is over makes room.
        let id = try #require(
            try await bench.store.jobs(JobFilter(), order: .oldestFirst, limit: 1, after: nil).jobs.first
        ).record.id
        await bench.until { bench.transport.heldCount == 2 }
        _ = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        try await bench.job(id, is: .cancelled)
        // The other one stays with the upstream.
        await bench.until { bench.jobs.inFlight == 1 && bench.transport.heldCount == 1 }
        #expect(await code() == nil)
        #expect(await bench.stop())
    }

    @Test("A job that is with the upstream is cancelled there", arguments: [Method.put, .post])
    func cancelled(method: Method) async throws {
        let bench = DurableBench { _ in .hold }
        try await bench.start()
        let id = try await bench.submit(method: method)
        await bench.until { bench.transport.heldCount == 1 }
        let asked = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        #expect(asked?.state == .running || asked?.state == .cancelled)
        let job = try await bench.job(id, is: .cancelled)
        await bench.until { !bench.feed(.jobCancelled).isEmpty }
        #expect(job.end == .cancelled && bench.feed(.jobCancelled).map(\.job) == [id])
        #expect(bench.ends.map(\.state) == [.cancelled])
        #expect(await bench.stop())
    }

    @Test("An action that cannot be done says why, and changes nothing")
    func impossible() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let id = try await bench.submit()
        try await bench.job(id, is: .succeeded)
        func code(_ action: JobAction, _ id: JobID) async -> Problem.Code? {
            do throws(Problem) {
                _ = try await bench.jobs.operations.act(action, on: id, by: 0)
                return nil
            } catch {
                return error.code
            }
        }
        for action in [JobAction.retry, .cancel, .hold, .release] {
            #expect(await code(action, id) == .jobState)
        }
        #expect(await code(.cancel, JobID(high: 1, low: 1)) == .jobNotFound)
        #expect(await code(.drop, id) == nil)
        #expect(await code(.retry, id) == .jobNotFound)
        #expect(await bench.stop())
    }

    @Test("A dead job is sent again when its operator says so, unless its body is gone")
    func replayed() async throws {
        let bench = DurableBench(
            { $0.recovery = [] },
            answer: { $0.target == "/x" ? .answer(400) : .answer(200) }
        )
        try await bench.start()
        let ids = [try await bench.submit(), try await bench.submit()]
        for id in ids { try await bench.job(id, is: .dead) }
        _ = try await bench.jobs.operations.act(.expunge, on: ids[1], by: 0)
        await #expect(throws: Problem.self) {
            _ = try await bench.jobs.operations.act(.retry, on: ids[1], by: 0)
        }
        var filter = JobFilter()
        filter.states = [.dead]
        var order = ActionOrder(.retry, filter, limit: 10, by: .user(0, isBulk: true))
        order.isDryRun = true
        let dry = try await bench.jobs.operations.act(order)
        #expect(dry.matched == 2 && dry.changed == 0)
        order.isDryRun = false
        order.spacing = JobSpacing(first: .seconds(5), interval: .seconds(10))
        let report = try await bench.jobs.operations.act(order)
        #expect(report.changed == 1 && report.expunged == 1)
        let waits = try #require(try await bench.store.job(ids[0]))
        #expect(bench.jobs.blocker(of: waits)?.reason == "throttled" && bench.sent.count == 2)
        await bench.until { bench.time.sleeperCount >= 3 }
        bench.time.advance(by: .seconds(5))
        try await bench.until { try await bench.store.job(ids[0])?.attempts == 2 }
        #expect(await bench.stop())
    }

    @Test("A job that is held waits for its release")
    func held() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let id = try await bench.submit([("Waystation-Delay", "5s")])
        let job = try #require(try await bench.jobs.operations.act(.hold, on: id, by: 0))
        #expect(job.state == .held && bench.jobs.blocker(of: job)?.reason == "operator_hold")
        #expect(bench.feed(.jobHeld).map(\.job) == [id])
        bench.time.advance(by: .seconds(5))
        await untilIdle()
        #expect(bench.sent.isEmpty)
        _ = try await bench.jobs.operations.act(.release, on: id, by: 0)
        try await bench.job(id, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("A caller that waits for a job is told of its end, or how it stands when the time is up")
    func waiting() async throws {
        let bench = DurableBench { _ in .hold }
        try await bench.start()
        let id = try await bench.submit()
        await bench.until { bench.transport.heldCount == 1 }
        let far = bench.time.now().advanced(by: .seconds(3600))
        let end = Task { try await bench.jobs.job(id, changedSince: nil, by: far, bench.time) }
        let version = try #require(try await bench.store.job(id)).version
        let change = Task { try await bench.jobs.job(id, changedSince: version, by: far, bench.time) }
        let soon = bench.time.now().advanced(by: .seconds(3))
        let late = Task { try await bench.jobs.job(id, changedSince: nil, by: soon, bench.time) }
        let gone = Task { try await bench.jobs.job(id, changedSince: nil, by: far, bench.time) }
        // Two dispatchers and the sweep sleep beside them.
        await bench.until { bench.time.sleeperCount >= 7 }
        gone.cancel()
        #expect(try await gone.value.state == .running)
        bench.time.advance(by: .seconds(3))
        #expect(try await late.value.state == .running)
        #expect(
            try await bench.jobs.job(id, changedSince: version + 1, by: far, bench.time).version == version
        )
        _ = try await bench.jobs.operations.act(.cancel, on: id, by: 0)
        #expect(try await change.value.version > version)
        #expect(try await end.value.state == .cancelled)
        await #expect(throws: Problem.self) {
            _ = try await bench.jobs.job(JobID(high: 1, low: 1), changedSince: nil, by: far, bench.time)
        }
        #expect(await bench.stop())
    }

    @Test("A drain lets what is with the upstream end, and sends nothing more")
    func drained() async throws {
        let steps = Mutex<[ScriptedTransport.Step]>([.hold, .answer(200)])
        let bench = DurableBench(
            { $0.concurrency.maxRequests = 1 },
            answer: { _ in steps.withLock { $0.removeFirst() } }
        )
        try await bench.start()
        let first = try await bench.submit(target: "a")
        let second = try await bench.submit(target: "b")
        await bench.until { bench.transport.heldCount == 1 }
        bench.jobs.drain()
        await untilIdle()
        #expect(bench.jobs.inFlight == 1)
        bench.transport.release()
        try await bench.job(first, is: .succeeded)
        await bench.until { bench.jobs.inFlight == 0 }
        let third = try await bench.submit(target: "c")
        await untilIdle()
        for id in [second, third] {
            let job = try #require(try await bench.store.job(id))
            #expect(job.state == .queued && job.attempts == 0)
        }
        #expect(bench.sent == ["/a"])
        #expect(await bench.stop())
    }

    @Test("A stop that will not wait puts back what may be sent again, unburned")
    func aborted() async throws {
        let bench = DurableBench { _ in .hold }
        try await bench.start()
        let id = try await bench.submit()
        await bench.until { bench.transport.heldCount == 1 }
        bench.jobs.abort()
        await bench.until { bench.jobs.inFlight == 0 }
        let job = try #require(try await bench.store.job(id))
        #expect(job.spentAttempts == 0 && !job.state.isTerminal)
        #expect(await bench.stop())
    }

    @Test("A job that must not be sent twice is dead when the stop cuts it off, and nobody sends it again")
    func cutOff() async throws {
        let first = DurableBench { _ in .hold }
        try await first.start()
        let id = try await first.submit(method: .post)
        await first.until { first.transport.heldCount == 1 }
        first.jobs.abort()
        let job = try await first.job(id, is: .dead)
        #expect(job.end == .outcomeUnknown)
        #expect(await first.stop())
        let second = DurableBench(after: first) { _ in .answer(200) }
        try await second.start()
        await untilIdle()
        #expect(second.sent.isEmpty)
        #expect(await second.stop())
    }

    @Test("Jobs that nobody began to send when the process died are sent by the next one")
    func crashed() async throws {
        let first = DurableBench { _ in .answer(200) }
        let ids = [try await first.submit(target: "a"), try await first.submit(target: "b")]
        let second = DurableBench(after: first) { _ in .answer(200) }
        try await second.start()
        for id in ids { try await second.job(id, is: .succeeded) }
        #expect(second.sent.sorted() == ["/a", "/b"] && first.sent.isEmpty)
        #expect(await second.stop())
        #expect(await first.stop())
    }
}
