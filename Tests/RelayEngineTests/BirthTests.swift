import RelayBase
import RelayEngine
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite(
    "A job whose route has a free permit is claimed with its acceptance",
    .runQueue,
    .timeLimit(.minutes(5))
)
struct BirthTests {
    /// The order, if any, that comes while the acceptance is on its way back from the disk.
    enum Interlude: CaseIterable, Sendable {
        case nothing, drain, abort, cancel, pause
    }

    /// The one job there is.
    private static func job(_ bench: DurableBench) async throws -> StoredJob {
        let page = try await bench.store.jobs(JobFilter(), order: .oldestFirst, limit: 10, after: nil)
        try #require(page.jobs.count == 1)
        return page.jobs[0]
    }

    @Test(
        "An order that comes meanwhile counts, and the claim is seen by whoever stops the relay",
        arguments: Interlude.allCases
    )
    func meanwhile(interlude: Interlude) async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let jobs = bench.jobs
        let seen = Mutex<(state: JobState, upstream: String?, inFlight: Int)?>(nil)
        bench.faults.after(.enqueue) {
            do {
                let job = try await BirthTests.job(bench)
                switch interlude {
                case .nothing: break
                case .drain: jobs.drain()
                case .abort: jobs.abort()
                case .cancel: _ = try await jobs.operations.act(.cancel, on: job.record.id, by: 0)
                case .pause: try await jobs.pauses.pause("hooks", reason: "now", for: nil)
                }
                seen.withLock { $0 = (job.state, job.begun?.upstream, jobs.inFlight) }
            } catch {
                Issue.record("\(error)")
            }
        }
        let id = try await bench.submit()
        let found = try #require(seen.withLock { $0 })
        #expect(found.state == .running && found.upstream == "one" && found.inFlight == 1)
        switch interlude {
        case .nothing: try await bench.job(id, is: .succeeded)
        case .cancel: try await bench.job(id, is: .cancelled)
        case .drain, .abort, .pause:
            #expect(try await bench.job(id, is: .queued).attempts == 0)
        }
        #expect(bench.sent.count == (interlude == .nothing ? 1 : 0))
        #expect(await bench.stop())
    }

    /// Why a job is not sent as soon as it is accepted.
    enum Obstacle: CaseIterable, Sendable {
        case taken, paused, notStarted, delayed
        /// Its body goes to a file, from which a run reads it by pieces.
        case large
    }

    @Test("It waits in the queue as long as no claim would take it", arguments: Obstacle.allCases)
    func waits(obstacle: Obstacle) async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 1 }, answer: { _ in .hold })
        if obstacle != .notStarted { try await bench.start() }
        await untilIdle()
        if obstacle == .taken { try await bench.submit(target: "first") }
        if obstacle == .paused { try await bench.jobs.pauses.pause("hooks", reason: "now", for: nil) }
        let fields = obstacle == .delayed ? [("Waystation-Delay", "1h")] : []
        let state = Mutex<JobState?>(nil)
        bench.faults.after(.enqueue) {
            state.withLock { $0 = nil }
            do {
                let page = try await bench.store.jobs(JobFilter(), order: .newestFirst, limit: 1, after: nil)
                state.withLock { $0 = page.jobs.first?.state }
            } catch { Issue.record("\(error)") }
        }
        let length = obstacle == .large ? StoredBodyFile.pieceSize + 1 : 5
        try await bench.submit(fields, target: "second", body: String(repeating: "x", count: length))
        #expect(state.withLock { $0 } == (obstacle == .delayed ? .scheduled : .queued))
        await untilIdle()
        #expect(bench.sent == (obstacle == .taken ? ["/first"] : obstacle == .large ? ["/second"] : []))
        #expect(await bench.stop())
    }

    @Test("A job that is not accepted leaves its permit to others")
    func refused() async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 1 }, answer: { _ in .answer(200) })
        try await bench.start()
        await untilIdle()
        bench.faults.failAcceptance(StoreError(.directory, "no"))
        await #expect(throws: Problem.self) { try await bench.submit() }
        #expect(bench.jobs.inFlight == 0 && bench.engine.snapshot.routes["hooks"]?.state.load.inFlight == 0)
        bench.faults.failAcceptance(nil)
        let key = [("Idempotency-Key", "\"k\"")]
        let id = try await bench.submit(key)
        try await bench.job(id, is: .succeeded)
        #expect(try await bench.submit(key) == id)
        await untilIdle()
        #expect(bench.sent.count == 1 && bench.jobs.inFlight == 0)
        #expect(await bench.stop())
    }

    @Test("Of a route's permits half are left to requests that need no disk")
    func shares() async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 4 }, answer: { _ in .hold })
        try await bench.start()
        await untilIdle()
        let state = try #require(bench.engine.snapshot.routes["hooks"]?.state)
        let most = Atomic<Int>(0)
        // Each is accepted while the one before is on its way back from the disk.
        @Sendable func submit(_ left: Int) async {
            guard left > 0 else { return most.store(state.load.inFlight, ordering: .relaxed) }
            bench.faults.after(.enqueue) { await submit(left - 1) }
            do { try await bench.submit() } catch { Issue.record("\(error)") }
        }
        await submit(4)
        #expect(most.load(ordering: .relaxed) == 2)
        await untilIdle()
        #expect(state.load.inFlight == 4)
        #expect(await bench.stop())
    }
}

@Suite(
    "How long a caller waits for a job that is claimed with its acceptance",
    .runQueue,
    .timeLimit(.minutes(5))
)
struct UnawaitedBirthTests {
    @Test(
        "A caller that waits no longer gives the permit back at once; the job is sent later where it stays, and once",
        arguments: [true, false]
    )
    func givenUp(isKeyed: Bool) async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 1 }, answer: { _ in .answer(200) })
        try await bench.start()
        await untilIdle()
        let state = try #require(bench.engine.snapshot.routes["hooks"]?.state)
        let (time, isBack) = (bench.time, Flag())
        bench.faults.after(.enqueue) {
            // As long as the disk takes: the caller's patience is over by then.
            try? await time.sleep(until: time.now().advanced(by: .seconds(10)))
            if state.load.inFlight == 0 { isBack.set() }
        }
        let admission = try bench.admit(isKeyed ? [("Idempotency-Key", "\"k\"")] : [])
        let caller = Task { () -> Problem.Code? in
            do throws(Problem) {
                _ = try await bench.acceptPatiently(admission)
                return nil
            } catch { return error.code }
        }
        await bench.eventually { isBack.isSet }
        #expect(await caller.value == .storageStalled)
        try await bench.job(admission.id, is: isKeyed ? .succeeded : .cancelled)
        #expect(bench.sent.count == (isKeyed ? 1 : 0))
        #expect(await bench.stop())
    }

    @Test(
        "A caller is answered within the time that it gives its request",
        arguments: [300, 600, 1_000, 3_900]
    )
    func inTime(milliseconds: Int) async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        let time = bench.time
        let isOnDisk = Flag()
        bench.faults.after(.enqueue) {
            try? await time.sleep(until: time.now().advanced(by: .seconds(10)))
            isOnDisk.set()
        }
        let admission = try bench.admit([("Waystation-Timeout", "\(milliseconds)ms")])
        let (began, isAnswered) = (time.now(), Flag())
        let caller = Task { () -> Duration in
            defer { isAnswered.set() }
            do {
                _ = try await bench.acceptPatiently(admission)
                Issue.record("a job was accepted while the disk stood still")
            } catch {}
            return began.duration(to: time.now())
        }
        await bench.eventually { isAnswered.isSet }
        #expect(await caller.value <= .milliseconds(milliseconds))
        await bench.eventually { isOnDisk.isSet }
        await untilIdle()
        #expect(await bench.stop())
    }
}
