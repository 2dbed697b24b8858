import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store answers each that asks, in the order of what was asked", .timeLimit(.minutes(5)))
struct AnswerTests {
    @Test("The answers to jobs that are handed over together stand in their order", arguments: StoreKind.all)
    func accepted(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func keyed(_ key: String, _ print: UInt8 = 1) -> NewJob {
            bench.newJob {
                $0.idempotency = NewJob.Idempotency(
                    user: 1,
                    key: key,
                    fingerprint: [print],
                    window: .seconds(600)
                )
            }
        }
        let (known, plain, new) = (keyed("a"), bench.newJob(), keyed("b"))
        #expect(try await bench.store.enqueue([known], at: bench.now) == [.accepted])
        let jobs = [keyed("a"), plain, keyed("a", 2), new, keyed("b"), plain, keyed("b", 2)]
        #expect(
            try await bench.store.enqueue(jobs, at: bench.now) == [
                .duplicate(known.record.id), .accepted, .conflict(known.record.id), .accepted,
                .duplicate(new.record.id), .duplicate(plain.record.id), .conflict(new.record.id),
            ]
        )
        #expect(try await bench.store.enqueue([], at: bench.now).isEmpty)
        #expect(try await bench.claim().map(\.token.id) == [known, plain, new].map(\.record.id))
    }

    @Test("The answers to claims that are settled together stand in their order", arguments: StoreKind.all)
    func settled(kind: StoreKind) async throws {
        let bench = try await kind.open()
        for _ in 0..<4 { try await bench.accept() }
        let claims = try await bench.claim()
        try await bench.apply(.cancel, claims[3].token.id)
        try await bench.settle(claims[1], .succeeded)
        let endings: [Settlement.Ending] = [
            .dead(.rejected), .succeeded, .held(.credentials), .retry(after: .seconds(5), .backoff),
            .succeeded,
        ]
        // The last of them is settled twice.
        let settlements = zip(claims + [claims[0]], endings).map { Settlement($0.token, $1) }
        #expect(
            try await bench.store.settle(settlements, at: bench.now) == [
                .applied(.dead, .rejected), .stale, .applied(.held), .applied(.cancelled, .cancelled), .stale,
            ]
        )
    }

    @Test(
        "A caller without a task is told once of a job that was accepted, or asks again with one",
        arguments: StoreKind.all
    )
    func offered(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let told = Notes<EnqueueResult>()
        let job = bench.newJob {
            $0.idempotency = NewJob.Idempotency(user: 1, key: "k", fingerprint: [1], window: .seconds(600))
        }
        var other = bench.newJob()
        other.idempotency = job.idempotency
        for (job, answer) in [(job, EnqueueResult.accepted), (other, .duplicate(job.record.id))] {
            let before = told.values.count
            let isTaken = bench.store.enqueue(OfferedJob(job), at: bench.now) { result in
                if let answer = try? result.get() { told.add([answer]) }
            }
            try await bench.hear()
            #expect(told.values.dropFirst(before) == (isTaken ? [answer] : []))
            guard !isTaken else { continue }
            if answer == .accepted { #expect(try await bench.store.job(job.record.id) == nil) }
            #expect(try await bench.store.enqueue([job], at: bench.now) == [answer])
        }
        #expect(try await bench.claim().map(\.token.id) == [job.record.id])
    }

    @Test(
        "A caller without a task is told once of a claim that was settled, or asks again with one",
        arguments: StoreKind.all
    )
    func settledAlone(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let told = Notes<Settlement.Answer>()
        let attempt = Attempt(number: 1, upstream: "eu", beganAt: bench.now.wall)
        let settlement = Settlement(
            try await bench.claim()[0].token,
            .succeeded,
            attempts: [attempt],
            answer: StoredAnswer(status: 200, fields: HeaderFields(), body: .bytes([1]))
        )
        for answer in [Settlement.Answer.applied(.succeeded), .stale] {
            let before = told.values.count
            let isTaken = bench.store.settle(settlement, at: bench.now) { result in
                if let answer = try? result.get() { told.add([answer]) }
            }
            try await bench.hear()
            #expect(told.values.dropFirst(before) == (isTaken ? [answer] : []))
            guard !isTaken else { continue }
            if answer != .stale { #expect(try await bench.state(id) == .running) }
            #expect(try await bench.store.settle([settlement], at: bench.now) == [answer])
        }
        #expect(try await bench.state(id) == .succeeded)
        #expect(try await bench.store.answer(of: id)?.body == .bytes([1]))
        #expect(try await bench.store.attempts(of: id, after: 0, limit: 9).count == 1)
    }

    @Test("A change is told of, and a sweep that finds nothing is not", arguments: StoreKind.all)
    func changed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        /// Told of by now: what an answer brings comes before the next one.
        func told() async throws -> Int {
            _ = try await bench.sweep()
            return bench.news.changes.values.count
        }
        _ = try await told()
        let before = try await told()
        #expect(try await told() == before)
        var last = before
        func expectChange(_ line: Int = #line) async throws {
            let count = try await told()
            #expect(count > last, "line \(line)")
            last = count
        }
        let id = try await bench.accept()
        try await expectChange()
        let claim = try await bench.claim()[0]
        try await expectChange()
        try await bench.settle(claim, .dead(.exhausted))
        try await expectChange()
        try await bench.apply(.retry, id)
        try await expectChange()
        try await bench.store.pause("hooks", RoutePause(reason: "410", began: 1), at: bench.now)
        try await expectChange()
        _ = try await (bench.store.job(id), bench.list(), bench.counts(), bench.store.pauses())
        #expect(try await told() == last)
    }

    @Test("Every call of a closed store says that it is", arguments: StoreKind.all)
    func closed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let claim = try await bench.claim()[0]
        let run = ActionRun(.retry, JobFilter(), by: nil, at: bench.now.wall)
        let (store, now) = (bench.store, bench.now)
        await store.close()
        await store.close()
        func expectClosed(_ name: String, _ call: () async throws -> Void) async {
            await #expect(throws: StoreError.closed, "\(name)") { try await call() }
        }
        await expectClosed("enqueue") { _ = try await store.enqueue([bench.newJob()], at: now) }
        await expectClosed("claim") { _ = try await bench.claim() }
        await expectClosed("begin") {
            _ = try await store.begin(NextAttempt(claim.token, upstream: "eu", earlier: []), at: now)
        }
        await expectClosed("settle") { _ = try await bench.settle(claim, .succeeded) }
        await expectClosed("apply") { _ = try await bench.apply(.cancel, id) }
        await expectClosed("sweep") { _ = try await bench.sweep() }
        await expectClosed("job") { _ = try await store.job(id) }
        await expectClosed("whole") {
            _ = try await store.whole(id, WholeJob.Extent(attempts: 1, hasBodies: true))
        }
        await expectClosed("jobs") { _ = try await bench.list() }
        await expectClosed("body") { _ = try await store.body(of: id) }
        await expectClosed("answer") { _ = try await store.answer(of: id) }
        await expectClosed("attempts") { _ = try await store.attempts(of: id, after: 0, limit: 1) }
        await expectClosed("counters") { _ = try await bench.counts() }
        await expectClosed("failures") { _ = try await store.failures(of: nil, at: now) }
        await expectClosed("users") { _ = try await store.unfinishedByUser() }
        await expectClosed("ending") { _ = try await store.ending(by: now.wall, of: []) }
        await expectClosed("pause") { try await store.pause("hooks", nil, at: now) }
        await expectClosed("pauses") { _ = try await store.pauses() }
        await expectClosed("begin of a run") { _ = try await store.begin(run, at: now) }
        await expectClosed("advance") { _ = try await store.advance(1, by: RunStep(limit: 1), at: now) }
        await expectClosed("end") { _ = try await store.end(1, as: .stopped, by: nil, failure: nil, at: now) }
        await expectClosed("runs") { _ = try await store.runs() }
    }
}
