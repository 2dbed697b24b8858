import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The bounds of the jobs that are kept", .runQueue, .timeLimit(.minutes(5)))
struct DurableBoundsTests {
    private let full = StoreError(.full, "cannot write now")

    @Test(
        "A run keeps its place until its answer is on disk where that is large",
        arguments: [(65_536, 0), (65_537, 1)]
    )
    func largeAnswers(length: Int, places: Int) async throws {
        let bench = DurableBench(
            { $0.delivery.keepsResponses = .always },
            answer: { _ in .answer(200, [], String(repeating: "x", count: length)) }
        )
        bench.faults.failSettlements([full])
        try await bench.start()
        let id = try await bench.submit()
        await bench.until { bench.faults.settlementsToFail == 0 }
        let state = try #require(bench.engine.snapshot.routes["hooks"]).state
        #expect(state.load.inFlight == places)
        bench.time.advance(by: .milliseconds(100))
        try await bench.job(id, is: .succeeded)
        await bench.until { bench.jobs.inFlight == 0 }
        #expect(state.load.inFlight == 0)
        #expect(await bench.stop())
    }

    @Test("A store that cannot settle gets no more to settle than the route has places, until it can")
    func failingSettlements() async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 2 }, answer: { _ in .answer(200) })
        bench.faults.failSettlements(Array(repeating: full, count: 1_000))
        for index in 0..<60 { try await bench.submit(target: "\(index)") }
        try await bench.start()
        await bench.until { bench.faults.settlementsToFail < 1_000 }
        #expect(bench.sent.count < 60)
        bench.faults.failSettlements([])
        await bench.eventually { bench.sent.count == 60 && bench.jobs.inFlight == 0 }
        #expect(await bench.stop())
    }

    @Test("Room is taken before a job is on disk, and given back when it does not come there")
    func room() async throws {
        let bench = DurableBench(maxQueued: 1) { _ in .hold }
        bench.faults.failAcceptance(full)
        await #expect(throws: Problem.self) { try await bench.submit() }
        bench.faults.failAcceptance(nil)
        let (codes, found) = AsyncStream<Problem.Code?>.makeStream()
        bench.faults.after(.enqueue) {
            do throws(Problem) {
                try await bench.submit()
                found.yield(nil)
            } catch {
                found.yield(error.code)
            }
        }
        try await bench.submit()
        var iterator = codes.makeAsyncIterator()
        #expect(await iterator.next() == .queueFull)
        #expect(await bench.stop())
    }

    @Test(
        "A known key is answered with its job also where there is no room for another",
        arguments: [Problem.Code.queueFull, .storageFull]
    )
    func knownWithoutRoom(code: Problem.Code) async throws {
        let bench = DurableBench(maxQueued: code == .queueFull ? 1 : 100) { _ in .hold }
        let key = [("Idempotency-Key", "\"k\"")]
        let id = try await bench.submit(key, method: .post)
        if code == .storageFull { bench.faults.failAcceptance(full) }
        let again = try await bench.jobs.acceptance.accept(
            try bench.admit(key, method: .post),
            body: .bytes(Array("hello".utf8))
        )
        #expect(again.id == id && again.isReplayed)
        func refusal(_ key: String, _ body: String) async -> Problem.Code? {
            do throws(Problem) {
                try await bench.submit([("Idempotency-Key", key)], method: .post, body: body)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await refusal("\"k\"", "bye") == .idempotencyKeyReused)
        #expect(bench.jobs.acceptance.refusals == 0)
        #expect(await refusal("\"l\"", "hello") == code)
        #expect(bench.jobs.acceptance.refusals == (code == .storageFull ? 1 : 0))
        #expect(await bench.stop())
    }

    @Test("A repeated submission takes no room")
    func repeated() async throws {
        let bench = DurableBench(maxQueued: 2) { _ in .hold }
        let key = [("Idempotency-Key", "\"k\"")]
        for _ in 0..<5 { try await bench.submit(key, method: .post) }
        try await bench.submit()
        #expect(await bench.stop())
    }

    @Test("An action on one version of a job is done to no other")
    func versions() async throws {
        let bench = DurableBench { _ in .hold }
        let id = try await bench.submit()
        let seen = try await bench.jobs.store.present(id).version
        let held = try #require(try await bench.jobs.operations.act(.hold, on: id, version: seen, by: 0))
        #expect(held.state == .held && held.version != seen)
        do throws(Problem) {
            _ = try await bench.jobs.operations.act(.drop, on: id, version: seen, by: 0)
            Issue.record("another version was dropped")
        } catch {
            #expect(error.code == .preconditionFailed && error.job == id)
        }
        #expect(try await bench.jobs.operations.act(.drop, on: id, version: held.version, by: 0) == nil)
        do throws(Problem) {
            _ = try await bench.jobs.operations.act(.drop, on: id, version: held.version, by: 0)
            Issue.record("a job that is gone was dropped")
        } catch {
            #expect(error.code == .jobNotFound)
        }
        #expect(await bench.stop())
    }

    @Test("A job whose body cannot be read now comes back after a moment, not at once")
    func unread() async throws {
        let bench = DurableBench { _ in .fail(.storedBodyUnread, .neverSent) }
        let id = try await bench.submit()
        try await bench.start()
        try await bench.until {
            try await bench.store.job(id)?.reason == .throttled && bench.jobs.inFlight == 0
        }
        let job = try #require(try await bench.store.job(id))
        #expect(bench.sent.count == 1)
        #expect(job.runAt == bench.time.wallMilliseconds() + 1_000 && job.attempts == 0)
        // It is tried again when its time has come.
        bench.time.advance(by: .seconds(1))
        await bench.until { bench.sent.count == 2 }
        #expect(await bench.stop())
    }

    /// Hands over a job of that user, whose bound counts.
    private func submit(_ bench: DurableBench, of user: UInt32) async throws(Problem) -> JobID {
        let admission = try bench.admit(user: user, share: CallerShare(user: user))
        return try await bench.jobs.acceptance.accept(admission, body: .bytes([])).id
    }

    /// Does it to all jobs of that user.
    private func act(_ bench: DurableBench, _ action: JobAction, on user: UInt32) async throws -> Int {
        var filter = JobFilter()
        filter.user = user
        let order = ActionOrder(action, filter, limit: 10, by: .user(0, isBulk: true))
        return try await bench.jobs.operations.act(order).changed
    }

    @Test("A bulk action on the jobs of one user counts for that user, at once, and for no other")
    func bulk() async throws {
        let bench = DurableBench(maxQueuedPerUser: 2) { _ in .hold }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "now", for: nil)
        /// Those of the users 1 and 2 that may hand over no more.
        func full() async throws -> [UInt32] {
            var full: [UInt32] = []
            for user in [1, 2] as [UInt32] {
                do throws(Problem) {
                    let id = try await submit(bench, of: user)
                    _ = try await bench.jobs.operations.act(.drop, on: id, by: 0)
                } catch {
                    #expect(error.detail.contains("limits.per_user.max_queued_jobs"))
                    full.append(user)
                }
            }
            return full
        }
        for _ in 0..<2 { _ = try await submit(bench, of: 1) }
        _ = try await submit(bench, of: 2)
        #expect(try await full() == [1])
        for round in 0..<2 {
            #expect(try await act(bench, .cancel, on: 1) == 2)
            #expect(try await full() == [] && bench.room.queued == 1, "\(round)")
            #expect(try await act(bench, .retry, on: 1) == 2)
            #expect(try await full() == [1] && bench.room.queued == 3, "\(round)")
        }
        #expect(try await act(bench, .drop, on: 1) == 2)
        #expect(try await full() == [])
        #expect(await bench.stop())
    }

    @Test("While the jobs of each user are counted, what is done every second is done")
    func count() async throws {
        let bench = DurableBench(maxQueuedPerUser: 1) { _ in .hold }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "now", for: .seconds(5))
        _ = try await submit(bench, of: 1)
        bench.time.advance(by: .seconds(20))
        await #expect(throws: Problem.self) { try await submit(bench, of: 1) }
        try await bench.jobs.pauses.pause("other", reason: "now", for: .seconds(5))
        let time = bench.time
        bench.faults.after(.countUsers) {
            try? await time.sleep(until: time.now().advanced(by: .seconds(30)))
        }
        for _ in 0..<10 {
            await untilIdle()
            bench.time.advance(by: .seconds(1))
        }
        await untilIdle()
        #expect(bench.jobs.pauses.pause(of: "other") == nil)
        bench.time.advance(by: .seconds(30))
        #expect(await bench.stop())
    }

    @Test(
        "While memory is short kept jobs have a quarter of the permits, are told so, and go on as soon as it is not"
    )
    func shortMemory() async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 8 }, answer: { _ in .hold })
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "now", for: nil)
        var ids: [JobID] = []
        for index in 0..<12 { ids.append(try await bench.submit(target: "\(index)")) }
        var settings = PressureMachine.Settings()
        settings.maxResident = 1_000
        bench.engine.shedding.configure(settings)
        func look(_ resident: UInt64, for seconds: Int) async {
            for _ in 0..<seconds {
                let sight = PressureMachine.MemorySample(resident: resident, bodies: 0, bodiesLimit: 1)
                _ = bench.engine.shedding.looked(sight, bench.time.now())
                bench.time.advance(by: .seconds(1))
                await untilIdle()
            }
        }
        await look(2_000, for: 3)
        try await bench.jobs.pauses.resume("hooks")
        await look(2_000, for: 3)
        #expect(bench.sent.count == 2 && bench.jobs.inFlight == 2)
        let waiting = try #require(try await bench.store.job(ids[11]))
        let blocker = try #require(bench.jobs.blocker(of: waiting))
        #expect(blocker.reason == "concurrency")
        #expect(
            blocker.detail
                == "memory is short, and 2 kept jobs of the route may be under way until it is not (limits.shedding)"
        )
        _ = try await bench.submit(target: "new")
        await untilIdle()
        #expect(bench.sent.count == 2)
        await look(0, for: 12)
        #expect(bench.sent.count == 8)
        #expect(await bench.stop())
    }
}
