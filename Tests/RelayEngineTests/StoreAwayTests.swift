import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("A job store whose server is away", .runQueue, .timeLimit(.minutes(5)))
struct StoreAwayTests {
    private static let away = StoreError(.unavailable, "the database does not answer")
    private static let lost = StoreError(.unknown, "the database's answer was lost")

    private func problem(_ bench: DurableBench, _ admission: Admission) async -> Problem? {
        do throws(Problem) {
            _ = try await bench.acceptPatiently(admission)
            return nil
        } catch { return error }
    }

    @Test("A start that meets a server that is away waits on the relay's own loop, as its clock asks")
    func startedEarly() async throws {
        let bench = DurableBench { _ in .answer(200) }
        let before = bench.tasksStarted
        bench.faults.failReads([StoreAwayTests.away, StoreAwayTests.away, StoreAwayTests.away])
        let isStarted = Flag()
        let start = Task {
            try await bench.start()
            isStarted.set()
        }
        await untilIdle()
        #expect(bench.tasksStarted == before + 1 && !isStarted.isSet, "the first wait is a task of the relay")
        await bench.eventually { isStarted.isSet }
        try await start.value
        try await bench.job(try await bench.submit(), is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("A job is refused for a while, names no job, and is accepted as soon as the server is back")
    func refused() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        bench.faults.failAcceptance(StoreAwayTests.away)
        let refusal = try #require(await problem(bench, try bench.admit()))
        #expect(refusal.code == .storageUnavailable && refusal.retryAfter == .seconds(5))
        #expect(refusal.job == nil && refusal.route == "hooks" && refusal.detail.contains("database"))
        #expect(refusal.code.status == 503 && bench.jobs.inFlight == 0 && bench.room.queued == 0)
        // A request that waits for its answer needs no store.
        #expect(try await bench.answer().failure == nil)
        bench.faults.failAcceptance(nil)
        try await bench.job(try await bench.submit(), is: .succeeded)
        #expect(await bench.stop())
    }

    @Test(
        "A job of which nobody knows is named, and its caller is not told to send it again",
        arguments: [true, false]
    )
    func unknown(isKeyed: Bool) async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        bench.faults.failAcceptance(StoreAwayTests.lost)
        let admission = try bench.admit(isKeyed ? [("Idempotency-Key", "\"k\"")] : [])
        let refusal = try #require(await problem(bench, admission))
        #expect(
            refusal.code == .acceptanceUnknown && refusal.job == admission.id && refusal.retryAfter == nil
        )
        #expect(refusal.code.status == 504 && refusal.detail.contains("/v1/jobs/\(admission.id)"))
        #expect(refusal.detail.contains("same key") == isKeyed)
        #expect(bench.jobs.inFlight == 0 && bench.feed(.jobAccepted).isEmpty)
        #expect(await bench.stop())
    }

    @Test(
        "A caller that gives up when a job cannot be taken back any more is told so; the job stays and is sent once"
    )
    func inDoubt() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        bench.faults.writeFinally()
        let time = bench.time
        bench.faults.after(.enqueue) { try? await time.sleep(until: time.now().advanced(by: .seconds(10))) }
        let admission = try bench.admit()
        let isTold = Flag()
        let caller = Task {
            defer { isTold.set() }
            return await problem(bench, admission)
        }
        await bench.eventually { isTold.isSet }
        let refusal = try #require(await caller.value)
        #expect(
            refusal.code == .acceptanceUnknown && refusal.job == admission.id && refusal.retryAfter == nil
        )
        await bench.eventually { !bench.sent.isEmpty }
        try await bench.job(admission.id, is: .succeeded)
        #expect(bench.sent.count == 1 && bench.feed(.jobAccepted).map(\.job) == [admission.id])
        #expect(await bench.stop())
    }

    @Test("So is the caller of an array, of each of its jobs")
    func inDoubtTogether() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        await untilIdle()
        bench.faults.writeFinally()
        let time = bench.time
        bench.faults.after(.enqueue) { try? await time.sleep(until: time.now().advanced(by: .seconds(10))) }
        let admissions = [try bench.admit(), try bench.admit()]
        let jobs = admissions.map { Result<KeptJob, Problem>.success(KeptJob($0, [])) }
        let intake = JobIntake(bench.jobs, bench.ports)
        let isTold = Flag()
        let caller = Task {
            defer { isTold.set() }
            return await intake.keep(jobs)
        }
        await bench.eventually { isTold.isSet }
        var named: [JobID?] = []
        for answer in await caller.value {
            guard case .failure(let problem) = answer else {
                Issue.record("a job counts as accepted")
                continue
            }
            #expect(problem.code == .acceptanceUnknown && problem.retryAfter == nil)
            named.append(problem.job)
        }
        #expect(named == admissions.map(\.id))
        await bench.eventually { bench.feed(.jobAccepted).count == 2 }
        #expect(bench.sent.count == 2)
        #expect(await bench.stop())
    }

    @Test(
        "While the store is not sure of its claims no byte of a kept job is sent, and that costs no attempt"
    )
    func unsure() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        bench.faults.makeUnsure()
        let id = try await bench.submit()
        await untilIdle()
        #expect(bench.sent.isEmpty && bench.jobs.inFlight == 0)
        bench.faults.makeUnsure(false)
        await bench.eventually { !bench.sent.isEmpty }
        let job = try await bench.job(id, is: .succeeded)
        #expect(bench.sent == ["/x"] && job.attempts == 1 && job.spentAttempts == 1)
        #expect(await bench.stop())
    }

    @Test(
        "Of a claim that was lost no byte is sent, though the store has a lease again; the next claim is sent"
    )
    func claimLost() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        bench.faults.loseClaims(upTo: 1)
        let id = try await bench.submit()
        let job = try await bench.job(id, is: .succeeded)
        #expect(bench.sent == ["/x"] && job.attempts == 1 && bench.faults.lastSettlement?.token.number == 2)
        #expect(await bench.stop())
    }

    @Test(
        "A settlement is asked for again, at least each second, with its answer and without another attempt",
        arguments: [away, lost]
    )
    func settlement(error: StoreError) async throws {
        let bench = DurableBench({ $0.delivery.keepsResponses = .always }, answer: { _ in .answer(200) })
        try await bench.start()
        bench.faults.failSettlements(Array(repeating: error, count: 30))
        let id = try await bench.submit()
        let began = bench.time.now()
        await bench.eventually { bench.jobs.inFlight == 0 }
        let took = began.duration(to: bench.time.now())
        #expect(took > .seconds(10) && took < .seconds(30), "\(took)")
        try await bench.job(id, is: .succeeded)
        #expect(bench.sent == ["/x"] && bench.faults.settlementsToFail == 0)
        #expect(bench.faults.lastSettlement?.answer?.body == .bytes([]))
        #expect(await bench.stop())
    }

    @Test(
        "A run whose claim is lost meanwhile learns of it when the server is back, and tells nothing of its job"
    )
    func takenOver() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        bench.faults.failSettlements(Array(repeating: StoreAwayTests.away, count: 100))
        let id = try await bench.submit()
        await untilIdle()
        let token = try #require(bench.faults.lastFailedSettlement?.token)
        bench.faults.failSettlements([])
        // Another daemon has taken the job over, and has it wait.
        let taken = Settlement(token, .requeued(after: .seconds(3_600), nil))
        _ = try await bench.store.settle([taken], at: JobMoment(bench.time))
        await bench.eventually { bench.jobs.inFlight == 0 }
        let job = try #require(try await bench.store.job(id))
        #expect(!job.state.isTerminal && job.crashes == 0 && bench.ends.isEmpty && bench.sent.count == 1)
        #expect(await bench.stop())
    }

    @Test("A relay that is stopped waits a few seconds for the server, and keeps no task")
    func stopped() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        bench.faults.failSettlements(Array(repeating: StoreAwayTests.away, count: 10_000))
        let id = try await bench.submit()
        await untilIdle()
        bench.jobs.abort()
        await bench.eventually { bench.jobs.inFlight == 0 }
        try await bench.job(id, is: .running)
        #expect(await bench.stop())
    }

    @Test("Claims are asked for again, neither at once nor later than each second")
    func claims() async throws {
        let bench = DurableBench { _ in .answer(200) }
        let id = try await bench.submit()
        bench.faults.failClaims(Array(repeating: StoreAwayTests.away, count: 1_000))
        try await bench.start()
        for _ in 0..<100 {
            await untilIdle()
            bench.time.advance(by: .milliseconds(100))
        }
        // Two routes, in ten seconds.
        let asked = 1_000 - bench.faults.claimsToFail
        #expect((20...60).contains(asked), "\(asked)")
        #expect(bench.sent.isEmpty)
        bench.faults.failClaims([])
        for _ in 0..<11 {
            await untilIdle()
            bench.time.advance(by: .milliseconds(100))
        }
        try await bench.job(id, is: .succeeded)
        #expect(bench.sent == ["/x"])
        #expect(await bench.stop())
    }

    @Test("The start waits for the server; what is asked for meanwhile is refused with the reason")
    func start() async throws {
        let bench = DurableBench { _ in .answer(200) }
        bench.faults.failReads(Array(repeating: StoreAwayTests.away, count: 30))
        let isStarted = Flag()
        let start = Task {
            defer { isStarted.set() }
            try await bench.start()
        }
        await untilIdle()
        do throws(Problem) {
            try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
            Issue.record("a pause was taken that nothing keeps")
        } catch { #expect(error.code == .storageUnavailable) }
        await bench.eventually { isStarted.isSet }
        try await start.value
        try await bench.job(try await bench.submit(), is: .succeeded)
        #expect(await bench.stop())
    }
}
