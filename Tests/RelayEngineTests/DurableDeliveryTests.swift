import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Jobs that are kept, from acceptance to their end", .runQueue, .timeLimit(.minutes(5)))
struct DurableDeliveryTests {
    @Test("A job is delivered once, with its body and fields, and its answer is kept")
    func delivered() async throws {
        let bench = DurableBench { _ in .answer(201, [("X-Id", "7")], "made") }
        try await bench.start()
        let id = try await bench.submit([("X-One", "1"), ("Waystation-Label", "order=1")], method: .post)
        let job = try await bench.job(id, is: .succeeded)
        await bench.until { !bench.feed(.jobSucceeded).isEmpty }
        #expect(bench.sent == ["/x"] && bench.transport.sent.first?.text == "hello")
        #expect(bench.transport.sent.first?.fields.pairs.map { "\($0.name)=\($0.value)" } == ["X-One=1"])
        #expect(job.attempts == 1 && job.record.labels == ["order=1"] && job.hasBody)
        #expect(job.record.submitter == JobRecord.Submitter(user: 1000, unit: "shop.service"))
        let answer = try #require(try await bench.store.answer(of: id))
        #expect(answer.status == 201 && answer.body == .bytes(Array("made".utf8)))
        #expect(bench.ends.map(\.state) == [.succeeded] && bench.ends.map(\.attemptCount) == [1])
        #expect(bench.feed(.jobAccepted).map(\.job) == [id] && bench.feed(.jobAccepted).first?.user == 1000)
        let counters = bench.engine.snapshot.routes["hooks"]?.state.figures
        #expect(counters?[.succeeded] == 1 && counters?[.recovered] == 0 && counters?.requests == 1)
        #expect(await bench.stop())
    }

    @Test("Its schedule goes on after a crash where it was, and so do the uses of its rule")
    func schedule() async throws {
        let first = DurableBench { _ in .answer(503) }
        try await first.start()
        let id = try await first.submit()
        try await first.until { try await first.store.job(id)?.attempts == 1 }
        #expect(try await first.store.job(id)?.state == .retrying)
        first.time.advance(by: .seconds(5))
        try await first.until { try await first.store.job(id)?.attempts == 2 }
        #expect(await first.stop())

        let second = DurableBench(after: first) { _ in .answer(503) }
        try await second.start()
        await untilIdle()
        #expect(second.sent.isEmpty)
        let waits = try #require(try await second.store.job(id))
        let blocker = second.jobs.blocker(of: waits)
        #expect(blocker?.reason == "backoff" && blocker?.until == waits.runAt)
        second.time.advance(by: .seconds(60))
        try await second.until { try await second.store.job(id)?.attempts == 3 }
        let third = try #require(try await second.store.job(id))
        // The third use of the rule: an hour, and then there is none left.
        #expect(third.runAt - second.time.wallMilliseconds() == 3_600_000)
        second.time.advance(by: .seconds(3_600))
        let job = try await second.job(id, is: .dead)
        #expect(job.attempts == 4 && job.end == .exhausted && job.failureKind == .httpStatus)
        let attempts = try await second.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.number) == [1, 2, 3, 4] && attempts.map(\.status) == [503, 503, 503, 503])
        let nexts: [Attempt.Next?] = [5, 60, 3600].map { .retry(after: .seconds($0)) } + [nil]
        #expect(attempts.map(\.next) == nexts)
        await second.until { !second.feed(.jobDead).isEmpty }
        #expect(second.feed(.jobDead).first?.report?.end == .exhausted)
        let failed = second.feed(.attemptFailed).map { event in
            if case .attemptFailed(_, let attempt) = event { attempt.number } else { 0 }
        }
        #expect(failed == [3, 4])
        #expect(second.ends.map(\.attemptCount) == [4] && second.ends.first?.end == .exhausted)
        #expect(second.engine.snapshot.routes["hooks"]?.state.figures[.failed] == 1)
        #expect(await second.stop())
    }

    @Test("Jobs with one ordering key go one at a time and in their order, also while the first is retried")
    func ordering() async throws {
        let bench = DurableBench { $0.target == "/a" ? .answer(503) : .answer(200) }
        try await bench.start()
        let first = try await bench.submit([("Waystation-Ordering-Key", "k")], target: "a")
        let second = try await bench.submit([("Waystation-Ordering-Key", "k")], target: "b")
        let other = try await bench.submit([("Waystation-Ordering-Key", "l")], target: "c")
        try await bench.job(first, is: .retrying)
        try await bench.job(other, is: .succeeded)
        let waits = try #require(try await bench.store.job(second))
        #expect(bench.jobs.blocker(of: waits)?.reason == "ordering" && !bench.sent.contains("/b"))
        _ = try await bench.jobs.operations.act(.cancel, on: first, by: 0)
        try await bench.job(second, is: .succeeded)
        #expect(bench.sent.last == "/b" && bench.sent.count == 3)
        #expect(await bench.stop())
    }

    @Test("A route may put all its jobs in one order")
    func routeOrder() async throws {
        let bench = DurableBench({ $0.delivery.ordering = .route }, answer: { _ in .hold })
        try await bench.start()
        _ = try await bench.submit([("Waystation-Ordering-Key", "k")], target: "a")
        let second = try await bench.submit([("Waystation-Ordering-Key", "l")], target: "b")
        await bench.until { bench.transport.heldCount >= 1 }
        #expect(bench.sent == ["/a"])
        #expect(try await bench.store.job(second)?.reason == .ordering)
        #expect(await bench.stop())
    }

    @Test("A job that is due later is sent then, and one that expires before is over by then")
    func dates() async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        let late = try await bench.submit([("Waystation-Delay", "10m")], target: "late")
        try await bench.jobs.pauses.pause("other", reason: "a test", for: nil)
        let gone = try await bench.submit([("Waystation-Timeout", "60s")], route: "other", target: "gone")
        let dated = try await bench.submit([("Waystation-Not-Before", "2020-01-01T00:00:00Z")], target: "now")
        try await bench.job(dated, is: .succeeded)
        let waits = try #require(try await bench.store.job(late))
        #expect(bench.jobs.blocker(of: waits)?.reason == "not_before")
        bench.time.advance(by: .seconds(61))
        try await bench.job(gone, is: .expired)
        bench.time.advance(by: .seconds(540))
        try await bench.job(late, is: .succeeded)
        #expect(bench.sent == ["/now", "/late"])
        #expect(await bench.stop())
    }

    @Test(
        "Requests and answers are kept as the route says",
        arguments: [
            (DeliverySettings.Keeping.always, 200, true, true), (.onFailure, 200, false, false),
            (.never, 200, false, false), (.always, 400, true, true), (.onFailure, 400, true, true),
            (.never, 400, false, false),
        ] as [(DeliverySettings.Keeping, Status, Bool, Bool)]
    )
    func keeping(keeping: DeliverySettings.Keeping, status: Status, body: Bool, answer: Bool) async throws {
        let bench = DurableBench(
            {
                $0.delivery.keepsRequests = keeping
                $0.delivery.keepsResponses = keeping
                $0.recovery = []
            },
            answer: { _ in .answer(status, [], "text") }
        )
        try await bench.start()
        let id = try await bench.submit()
        let job = try await bench.job(id, is: status == 200 ? .succeeded : .dead)
        #expect(job.hasAnswer == answer)
        // The store in memory keeps what it is told to drop; what it is told is what counts here.
        await bench.until { bench.faults.lastSettlement?.token.id == id }
        #expect(bench.faults.lastSettlement?.dropsBody == !body)
        #expect(await bench.stop())
    }

    @Test(
        "A settlement that cannot be now is tried again, in the end without the answer's body, and loses nothing",
        arguments: [StoreError.Code.full, .directory, .slow]
    )
    func full(code: StoreError.Code) async throws {
        let bench = DurableBench({ $0.delivery.keepsResponses = .always }, answer: { _ in .answer(200) })
        let full = StoreError(code, "cannot write now")
        bench.faults.failSettlements([full, full, full])
        try await bench.start()
        let id = try await bench.submit()
        await bench.eventually { bench.faults.settlementsToFail == 0 }
        await bench.eventually { bench.jobs.inFlight == 0 }
        #expect(try await bench.store.job(id)?.state == .succeeded && bench.sent == ["/x"])
        #expect(bench.faults.lastSettlement?.answer?.body == .expunged)
        #expect(await bench.stop())
    }

    @Test("No more jobs are with the upstream than the route has places, and the others go on one by one")
    func places() async throws {
        let bench = DurableBench({ $0.concurrency.maxRequests = 2 }, answer: { _ in .hold })
        try await bench.start()
        var ids: [JobID] = []
        for _ in 0..<5 { ids.append(try await bench.submit()) }
        await bench.until { bench.transport.heldCount == 2 }
        #expect(bench.sent.count == 2 && bench.jobs.inFlight == 2)
        let waits = try #require(
            try await bench.store.jobs(JobFilter(), order: .newestFirst, limit: 1, after: nil).jobs.first
        )
        #expect(bench.jobs.blocker(of: waits)?.reason == "concurrency")
        #expect(await bench.stop())
    }

    @Test("A synchronous request has its turn beside a backlog")
    func fairTurn() async throws {
        let bench = DurableBench(
            {
                $0.concurrency.maxRequests = 1
                $0.concurrency.maxPendingRequests = 1
            },
            answer: { _ in .hold }
        )
        try await bench.start()
        for _ in 0..<3 { try await bench.submit() }
        await bench.until { bench.transport.heldCount == 1 }
        await untilIdle()
        let state = try #require(bench.engine.snapshot.routes["hooks"]?.state)
        // The dispatch waits already, and takes no place in the queue away from anybody.
        #expect(state.load.pending == 0)
        guard case .queued(let turn) = state.enter() else { return #expect(Bool(false), "it may not wait") }
        let isFull = if case .full = state.enter() { true } else { false }
        #expect(isFull && state.load.pending == 1)
        _ = turn.take()
        #expect(state.load.pending == 0)
        #expect(await bench.stop())
    }
}
