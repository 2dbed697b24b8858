import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Answered in the upstream's stead, and delivered as a kept job", .runQueue, .timeLimit(.minutes(5)))
struct StandInKeptJobTests {
    /// Whether the upstream can be reached.
    private let isOpen = Flag()

    /// A route that answers with a placeholder and keeps the request, which is sent again after five seconds.
    private func bench(
        maxQueued: Int = 100,
        after earlier: DurableBench? = nil,
        failing: ScriptedTransport.Step = .fail(.connectionRefused, .neverSent),
        _ change: @escaping (inout RoutePolicy) -> Void = { _ in }
    ) -> DurableBench {
        let isOpen = isOpen
        return DurableBench(
            after: earlier,
            maxQueued: maxQueued,
            {
                var answering = rule("answer", ["any"], placeholder())
                answering.keepsRequest = true
                $0.recovery.insert(answering, at: 0)
                $0.delivery.mode = .sync
                $0.idempotency.generates = true
                change(&$0)
            },
            answer: { _ in isOpen.isSet ? .answer(200) : failing }
        )
    }

    /// A request that waited for the disk has a timer that outlives the wait.
    private func stop(_ bench: DurableBench) async -> Bool {
        bench.time.advance(by: .seconds(4))
        return await bench.stop()
    }

    private func keys(_ bench: DurableBench) -> [String?] {
        bench.transport.sent.map { $0[.idempotencyKey] }
    }

    @Test("Under the id of the request, with its key, its attempts, its owner and the route's lifetime")
    func delivered() async throws {
        let bench = bench()
        try await bench.start()
        let fields = [("Waystation-Timeout", "2s"), ("Waystation-Label", "order=7"), ("Priority", "u=1")]
        let admission = try bench.admit(fields, method: .post)
        let outcome = await bench.run(admission)
        #expect(outcome.report.source == .placeholder && outcome.report.keptJob == KeptJobName(admission.id))
        #expect(
            outcome.report.notKeptBecause == nil
                && outcome.attempts.last?.next == .respondAndKeep(.placeholder)
        )
        let job = try await bench.job(admission.id, is: .retrying)
        #expect(job.attempts == 1 && job.spentAttempts == 0 && job.reason == .backoff)
        #expect(job.record.submitter == JobRecord.Submitter(user: 1000, unit: "shop.service"))
        #expect(
            job.record.labels == ["order=7"] && job.record.priority == 1 && job.record.bounds.timeout == nil
        )
        #expect(job.expiresAt == job.createdAt + 7 * 86_400_000)
        #expect(job.runAt == job.createdAt + 5_000)
        isOpen.set()
        bench.time.advance(by: .seconds(5))
        try await bench.job(admission.id, is: .succeeded)
        let attempts = try await bench.store.attempts(of: admission.id, after: 0, limit: 10)
        #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.rule) == ["answer", nil])
        // The same key each time, so that the upstream does it once.
        #expect(keys(bench) == Array(repeating: keys(bench)[0], count: 2) && keys(bench)[0] != nil)
        #expect(try await bench.store.body(of: admission.id) == .bytes(Array("hello".utf8)))
        #expect(await stop(bench))
    }

    @Test("Each step is told: the answer, the acceptance with what it was answered with, and one end")
    func told() async throws {
        let bench = bench()
        try await bench.start()
        let admission = try bench.admit(method: .post)
        _ = await bench.run(admission)
        #expect(bench.engine.recent.find(admission.id) == nil)
        let accepted = try #require(bench.feed(.jobAccepted).first?.report)
        #expect(
            accepted.id == admission.id && accepted.answeredWith == .placeholder && accepted.attemptCount == 1
        )
        #expect(bench.feed(.jobSucceeded).isEmpty && bench.room.queued == 1)
        isOpen.set()
        bench.time.advance(by: .seconds(5))
        await bench.until { bench.feed(.jobSucceeded).count == 1 }
        #expect(bench.room.queued == 0 && bench.ends.count { $0.isDurable } == 1)
        #expect(await stop(bench))
    }

    @Test("A kept job that meets the rule again waits as the rules below say, and is never answered by it")
    func loop() async throws {
        let bench = bench()
        try await bench.start()
        let admission = try bench.admit(method: .post)
        _ = await bench.run(admission)
        for wait in [5, 60] {
            try await bench.job(admission.id, is: .retrying)
            bench.time.advance(by: .seconds(wait))
        }
        let job = try await bench.job(admission.id, is: .retrying)
        #expect(job.attempts == 3)
        let last = try #require(try await bench.store.attempts(of: admission.id, after: 2, limit: 1).first)
        #expect(
            last.rule == "later"
                && last.heldBack.map(\.reason.text) == [HeldBack.Reason.deliversNothing.text]
        )
        // The first of the rule's four attempts was that of the request itself.
        bench.time.advance(by: .seconds(3_600))
        #expect(try await bench.job(admission.id, is: .dead).attempts == 4)
        #expect(await stop(bench))
    }

    @Test(
        "A store that takes no job leaves the answer, which says why nothing is kept",
        arguments: [
            (StoreError(.full, "no room"), "no room"), (StoreError(.failed, "no disk"), "no disk"),
        ]
    )
    func refused(error: StoreError, reason: String) async throws {
        let bench = bench()
        bench.faults.failAcceptance(error)
        try await bench.start()
        let admission = try bench.admit(method: .post)
        let outcome = await bench.run(admission)
        #expect(outcome.report.source == .placeholder && outcome.report.keptJob == nil)
        #expect(
            outcome.report.notKeptBecause == reason && outcome.attempts.last?.next == .respond(.placeholder)
        )
        #expect(try await bench.store.job(admission.id) == nil && bench.feed(.jobAccepted).isEmpty)
        #expect(bench.engine.recent.find(admission.id) != nil && bench.room.queued == 0)
        #expect(await stop(bench))
    }

    @Test("limits.max_queued_jobs bounds what is kept so")
    func room() async throws {
        let bench = bench(maxQueued: 1)
        try await bench.start()
        _ = await bench.run(try bench.admit(method: .post))
        let second = await bench.run(try bench.admit(method: .post))
        #expect(second.report.keptJob == nil)
        #expect(second.report.notKeptBecause?.contains("limits.max_queued_jobs") == true)
        #expect(await stop(bench))
    }

    @Test("A store that stands still takes none of the route's permits from other requests")
    func stalledStore() async throws {
        let bench = bench { $0.concurrency.maxRequests = 1 }
        try await bench.start()
        let state = try #require(bench.engine.snapshot.routes["hooks"]?.state)
        let time = bench.time
        bench.faults.after(.enqueue) { try? await time.sleep(until: time.now().advanced(by: .seconds(60))) }
        let admission = try bench.admit(method: .post)
        let isAnswered = Flag()
        let caller = Task {
            defer { isAnswered.set() }
            return await bench.run(admission).report
        }
        await untilIdle()
        #expect(!isAnswered.isSet && bench.sent.count == 1 && state.load == (0, 0))
        isOpen.set()
        let other = try bench.admit(method: .post)
        let answered = await bench.run(other).report
        #expect(answered.status == 200 && answered.source == .upstream && !isAnswered.isSet)
        let began = time.now()
        await bench.eventually { isAnswered.isSet }
        let report = await caller.value
        #expect(report.source == .placeholder && report.keptJob == nil && report.notKeptBecause != nil)
        #expect(began.duration(to: time.now()) <= .milliseconds(4_100))
        time.advance(by: .seconds(60))
        await untilIdle()
        #expect(state.load == (0, 0))
        #expect(await stop(bench))
    }

    @Test("The look at the earlier job of the same key takes no longer than the disk may take in all")
    func stalledLook() async throws {
        let bench = bench()
        try await bench.start()
        let key = [("Idempotency-Key", "\"k\"")]
        let first = try bench.admit(key, method: .post)
        _ = await bench.run(first)
        let time = bench.time
        bench.faults.after(.look) { try? await time.sleep(until: time.now().advanced(by: .seconds(60))) }
        let second = try bench.admit(key, method: .post)
        let isAnswered = Flag()
        let caller = Task {
            defer { isAnswered.set() }
            return await bench.run(second).report
        }
        let began = time.now()
        await bench.eventually { isAnswered.isSet }
        let report = await caller.value
        #expect(began.duration(to: time.now()) <= .milliseconds(4_100))
        #expect(report.source == .placeholder && report.keptJob == nil)
        #expect(
            report.notKeptBecause
                == "its idempotency key belongs to job \(first.id), of which the disk of the job store does not tell in"
                + " time"
        )
        time.advance(by: .seconds(60))
        #expect(await stop(bench))
    }

    @Test("A key that is known is that of its job, whoever asks how")
    func knownKey() async throws {
        let bench = bench()
        try await bench.start()
        let key = [("Idempotency-Key", "\"k\"")]
        let first = try bench.admit(key, method: .post)
        _ = await bench.run(first)
        let second = try bench.admit(key, method: .post)
        let outcome = await bench.run(second)
        #expect(outcome.report.keptJob == KeptJobName(first.id, isReplayed: true))
        let async = try bench.admit(key + [("Prefer", "respond-async")], method: .post)
        let accepted = try await bench.jobs.acceptance.accept(async, body: .bytes(Array("hello".utf8)))
        #expect(accepted.id == first.id && accepted.isReplayed)
        let other = await bench.run(try bench.admit(key, method: .post), body: .bytes([1]))
        #expect(other.report.keptJob == nil)
        #expect(other.report.notKeptBecause?.contains("another method, target or body") == true)
        #expect(bench.room.queued == 1)
        #expect(await stop(bench))
    }

    @Test("A key whose job will not be delivered keeps nothing", arguments: [JobAction.cancel, .drop, nil])
    func undelivered(action: JobAction?) async throws {
        let bench = bench()
        try await bench.start()
        let key = [("Idempotency-Key", "\"k\"")]
        let first = try bench.admit(key, method: .post)
        _ = await bench.run(first)
        if let action {
            _ = try await bench.jobs.operations.act(action, on: first.id, by: nil)
        } else {
            for wait in [5, 60, 3_600] {
                try await bench.job(first.id, is: .retrying)
                bench.time.advance(by: .seconds(wait))
            }
            try await bench.job(first.id, is: .dead)
        }
        let state = try await bench.store.job(first.id)?.state
        #expect(state == (action == nil ? .dead : action == .cancel ? .cancelled : nil))
        let outcome = await bench.run(try bench.admit(key, method: .post))
        #expect(outcome.report.source == .placeholder && outcome.report.keptJob == nil)
        #expect(
            outcome.report.notKeptBecause
                == "its idempotency key belongs to job \(first.id), which is \(state?.name ?? "no longer there")"
        )
        #expect(await stop(bench))
    }

    @Test(
        "A request that may have been carried out and may not be repeated is answered and not kept",
        arguments: [false, true]
    )
    func unsafe(isKeyed: Bool) async throws {
        let bench = bench(failing: .fail(.connectionTerminated, .unknown)) {
            $0.idempotency.generates = isKeyed
        }
        try await bench.start()
        let outcome = await bench.run(try bench.admit(method: .post))
        #expect(outcome.report.source == .placeholder && (outcome.report.keptJob != nil) == isKeyed)
        #expect(
            outcome.report.notKeptBecause
                == (isKeyed ? nil : "the outcome is unknown and repeating it may not be safe")
        )
        #expect(await stop(bench))
    }

    @Test("After a crash between the answer and the delivery the job is there, and is delivered once")
    func crash() async throws {
        let before = bench()
        try await before.start()
        let admission = try before.admit(method: .post)
        _ = await before.run(admission)
        let sent = before.sent.count
        #expect(await stop(before))
        isOpen.set()
        let after = bench(after: before)
        try await after.start()
        after.time.advance(by: .seconds(5))
        try await after.job(admission.id, is: .succeeded)
        #expect(sent == 1 && after.sent.count == 1)
        #expect(await stop(after))
    }

    @Test("A program, which has no job store, is answered and told so")
    func library() async throws {
        let bench = bench()
        let outcome = await bench.engine.run(
            try bench.admit(method: .post),
            body: .empty,
            relay: Relay(
                ports: RelayPorts(
                    transport: bench.transport,
                    time: bench.time,
                    entropy: SeededEntropy(),
                    sink: bench.sink,
                    start: { work in Task { await work() } }
                )
            )
        )
        #expect(outcome.report.source == .placeholder)
        #expect(outcome.report.notKeptBecause == "there is no job store")
        #expect(await stop(bench))
    }

    @Test("A route that keeps nothing keeps nothing")
    func control() async throws {
        let bench = bench { $0.recovery[0].keepsRequest = false }
        try await bench.start()
        let admission = try bench.admit(method: .post)
        let outcome = await bench.run(admission)
        #expect(outcome.report.source == .placeholder && outcome.report.keptJob == nil)
        #expect(outcome.report.notKeptBecause == nil && outcome.attempts.last?.heldBack.isEmpty == true)
        #expect(try await bench.store.job(admission.id) == nil)
        #expect(await stop(bench))
    }
}
