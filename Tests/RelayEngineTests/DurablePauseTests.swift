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

@Suite("The reasons that keep a route from sending", .runQueue, .timeLimit(.minutes(5)))
struct DurablePauseTests {
    /// A route that a 410 pauses.
    private func pausing(_ policy: inout RoutePolicy) {
        policy.recovery = [
            RecoveryRule(
                name: "gone",
                on: FailureMatcher([.status(410)]),
                action: .pauseRoute(reason: "the receiver is gone")
            )
        ]
    }

    @Test("A rule pauses the route: its job waits unburned, across a crash too, until somebody resumes it")
    func byRule() async throws {
        let first = DurableBench(pausing, answer: { _ in .answer(410) })
        try await first.start()
        let id = try await first.submit(target: "a")
        try await first.job(id, is: .held)
        let second = try await first.submit(target: "b")
        await untilIdle()
        #expect(first.sent == ["/a"])
        #expect(
            first.jobs.pauses.pause(of: "hooks")?.rule == "gone"
                && first.jobs.pauses.pause(of: "other") == nil
        )
        #expect(first.feed(.jobHeld).map(\.job) == [id])
        #expect(
            first.sink.events.contains {
                if case .routePaused("hooks", let pause) = $0 { pause.rule == "gone" } else { false }
            }
        )
        #expect(await first.stop())

        let bench = DurableBench(after: first, pausing, answer: { _ in .answer(200) })
        try await bench.start()
        await untilIdle()
        #expect(bench.sent.isEmpty && bench.jobs.pauses.pause(of: "hooks")?.reason == "the receiver is gone")
        for id in [id, second] {
            let job = try #require(try await bench.store.job(id))
            let blocker = bench.jobs.blocker(of: job)
            #expect(blocker?.reason == "route_paused" && blocker?.until == nil)
            #expect(blocker?.detail.contains("the receiver is gone") == true)
        }
        // A request that waits for its answer does not wait for an operator.
        #expect(throws: Problem.self) { try self.sync(bench) }
        try await bench.jobs.pauses.resume("hooks")
        try await bench.job(id, is: .succeeded)
        try await bench.job(second, is: .succeeded)
        #expect(bench.jobs.pauses.pause(of: "hooks") == nil && bench.feed(.routeResumed).count == 1)
        #expect(try await bench.store.pauses().isEmpty)
        #expect(await bench.stop())
    }

    private func sync(_ bench: DurableBench) throws(Problem) {
        var policy: RoutePolicy?
        policy = bench.engine.snapshot.routes["hooks"]?.route.policy
        policy?.delivery.mode = .sync
        guard let policy else { return }
        bench.engine.install(
            DurableBench.snapshot(previous: bench.engine.snapshot) { $0 = policy }
        )
        do throws(Problem) {
            _ = try bench.admit()
        } catch {
            #expect(error.code == .routePaused && error.retryAfter == .seconds(60))
            throw error
        }
    }

    @Test(
        "A job that must not be sent twice and may have arrived does not wait for the end of the pause that it caused",
        arguments: [(Method.post, JobState.dead, 1), (.put, .held, 2)]
    )
    func unknown(method: Method, state: JobState, sends: Int) async throws {
        let isSilent = Atomic<Bool>(true)
        let bench = DurableBench(
            {
                $0.recovery = [
                    RecoveryRule(
                        name: "silent",
                        on: FailureMatcher([.any]),
                        action: .pauseRoute(reason: "it does not answer")
                    )
                ]
            },
            answer: { _ in
                isSilent.exchange(false, ordering: .relaxed)
                    ? .fail(.httpResponseTimeout, .unknown) : .answer(200)
            }
        )
        try await bench.start()
        let id = try await bench.submit(method: method)
        await bench.until { bench.jobs.pauses.pause(of: "hooks") != nil && bench.jobs.inFlight == 0 }
        let job = try #require(try await bench.store.job(id))
        #expect(job.state == state && job.end == (state == .dead ? .outcomeUnknown : nil))
        #expect(bench.jobs.pauses.pause(of: "hooks")?.rule == "silent")
        try await bench.jobs.pauses.resume("hooks")
        let next = try await bench.submit(target: "y")
        try await bench.job(next, is: .succeeded)
        await bench.until { bench.sent.count { $0 == "/x" } >= sends }
        #expect(bench.sent.count { $0 == "/x" } == sends)
        #expect(await bench.stop())
    }

    @Test("An operator's pause ends by itself where it was given a time")
    func timed() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "maintenance", for: .seconds(30))
        let id = try await bench.submit()
        let other = try await bench.submit(route: "other")
        try await bench.job(other, is: .succeeded)
        let job = try #require(try await bench.store.job(id))
        let blocker = bench.jobs.blocker(of: job)
        #expect(job.state == .queued && blocker?.reason == "route_paused")
        #expect(blocker?.until == bench.time.wallMilliseconds() + 30_000)
        await bench.until { bench.time.sleeperCount > 0 }
        bench.time.advance(by: .seconds(31))
        try await bench.job(id, is: .succeeded)
        await bench.until { bench.jobs.pauses.pause(of: "hooks") == nil }
        #expect(await bench.stop())
    }

    @Test(
        "A pause lasts as long as it was given, however the wall clock is set meanwhile",
        arguments: [-3_600_000, 20_000, 3_600_000]
    )
    func stepped(step: Int64) async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        try await bench.jobs.pauses.pause("hooks", reason: "maintenance", for: .seconds(30))
        await bench.until { bench.time.sleeperCount > 0 }
        bench.time.stepWall(by: step)
        let until = try #require(bench.jobs.pauses.pause(of: "hooks")?.until)
        #expect(until == bench.time.wallMilliseconds() + 30_000)
        bench.time.advance(by: .seconds(15))
        await untilIdle()
        #expect(bench.jobs.pauses.pause(of: "hooks") != nil)
        await bench.until { bench.time.sleeperCount > 0 }
        bench.time.advance(by: .seconds(16))
        await untilIdle()
        await bench.until { bench.jobs.pauses.pause(of: "hooks") == nil }
        #expect(await bench.stop())
    }

    @Test("A route that does not exist is neither paused nor resumed")
    func unknown() async throws {
        let bench = DurableBench { _ in .answer(200) }
        await #expect(throws: Problem.self) {
            try await bench.jobs.pauses.pause("hoks", reason: "x", for: nil)
        }
        await #expect(throws: Problem.self) { try await bench.jobs.pauses.resume("hoks") }
        #expect(await bench.stop())
    }

    private let reference = SecretReference.environment("TOKEN")

    private func vault(_ secrets: [SecretReference: Secret]) -> CredentialVault {
        CredentialVault([CredentialDefinition(name: "c", kind: .fixed(reference))], secrets: secrets)
    }

    private func authenticated(_ policy: inout RoutePolicy) {
        policy.authentication = Authentication(form: .bearer, credential: "c")
    }

    @Test("While a credential fails its jobs wait unburned and one at a time tries it; then all go on")
    func credentials() async throws {
        let bench = DurableBench(vault: vault([:]), authenticated, answer: { _ in .answer(200) })
        try await bench.start()
        var ids: [JobID] = []
        for index in 0..<5 { ids.append(try await bench.submit(target: "\(index)")) }
        try await bench.until {
            try await bench.store.job(ids[4])?.state == .queued && bench.jobs.inFlight == 0
        }
        let job = try #require(try await bench.store.job(ids[0]))
        #expect(job.reason == .credentials && job.attempts == 0 && job.state == .queued)
        let blocker = try #require(bench.jobs.blocker(of: job))
        #expect(blocker.reason == "credentials")
        let wait = try #require(blocker.until) - bench.time.wallMilliseconds()
        #expect((1000...1200).contains(wait))
        bench.engine.install(
            DurableBench.snapshot(
                previous: bench.engine.snapshot,
                vault: vault([reference: Secret("t")]),
                authenticated
            )
        )
        bench.jobs.configured(DurableBench.settings(maxQueued: 100))
        for id in ids { try await bench.job(id, is: .succeeded) }
        #expect(bench.sent.sorted() == ["/0", "/1", "/2", "/3", "/4"])
        #expect(await bench.stop())
    }

    @Test("A route that is configured no more keeps its jobs, and sends them when it comes back")
    func removed() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let id = try await bench.submit([("Waystation-Delay", "10s")])
        bench.engine.install(DurableBench.snapshot(previous: bench.engine.snapshot, names: ["other"]))
        bench.jobs.configured(DurableBench.settings(maxQueued: 100))
        bench.time.advance(by: .seconds(10))
        await untilIdle()
        let job = try #require(try await bench.store.job(id))
        #expect(bench.jobs.blocker(of: job)?.reason == "route_removed" && bench.sent.isEmpty)
        bench.engine.install(DurableBench.snapshot(previous: bench.engine.snapshot))
        bench.jobs.configured(DurableBench.settings(maxQueued: 100))
        try await bench.job(id, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("A route that comes back while jobs of its are with the upstream has no more places than before")
    func returned() async throws {
        let isOpen = Flag()
        let bench = DurableBench(
            { $0.concurrency.maxRequests = 1 },
            answer: { _ in isOpen.isSet ? .answer(200) : .hold }
        )
        try await bench.start()
        let first = try await bench.submit()
        await bench.until { bench.transport.heldCount == 1 }
        let second = try await bench.submit()
        for names in [["other"], ["other"], ["hooks", "other"]] {
            bench.engine.install(
                DurableBench.snapshot(previous: bench.engine.snapshot, names: names) {
                    $0.concurrency.maxRequests = 1
                }
            )
            bench.jobs.configured(DurableBench.settings(maxQueued: 100))
        }
        await untilIdle()
        #expect(bench.sent.count == 1)
        isOpen.set()
        bench.transport.release()
        try await bench.job(first, is: .succeeded)
        try await bench.job(second, is: .succeeded)
        #expect(await bench.stop())
    }
}
