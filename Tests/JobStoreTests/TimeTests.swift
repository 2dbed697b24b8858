import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store keeps its times through steps of the clock", .timeLimit(.minutes(5)))
struct TimeTests {
    @Test("A delayed job is scheduled until its time and not claimed before", arguments: StoreKind.all)
    func delay(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept { $0.due = .after(.seconds(60)) }
        let job = try await bench.job(id)
        #expect(job.state == .scheduled && job.reason == .notBefore)
        #expect(bench.isAt(job.runAt, bench.now.wall + 60_000))
        #expect(try await bench.store.nextDue("hooks", at: bench.now) == job.runAt)
        try await bench.advance(by: 60_000 - bench.tick)
        let early = try await bench.store.claim("hooks", limit: 5, at: bench.now)
        #expect(early.claims.isEmpty && early.nextDue == job.runAt)
        try await bench.advance(by: bench.tick)
        #expect(try await bench.claim().count == 1)
        #expect(try await bench.store.nextDue("hooks", at: bench.now) == nil)
    }

    @Test(
        "A step of the clock moves no delay, and what is due at a date follows the clock",
        arguments: StoreKind.all(.wallSteps),
        [3_600_000, -3_600_000] as [Int64]
    )
    func steps(kind: StoreKind, step: Int64) async throws {
        let bench = try await kind.open()
        let delayed = try await bench.accept("delay") { $0.due = .after(.seconds(7_200)) }
        let date = bench.now.wall + 7_200_000
        let dated = try await bench.accept("date") { $0.due = .date(date) }
        try await bench.accept("retry")
        try await bench.settle(try await bench.claim("retry")[0], .retry(after: .seconds(7_200), .backoff))
        try await bench.advance(by: 1_000)
        bench.stepWall(by: step)
        _ = try await bench.store.sweep(Retention(), limit: 100, at: bench.now)
        #expect(try await bench.job(dated).runAt == date)
        #expect(try await bench.job(delayed).runAt == date + step)
        // To the delays.
        try await bench.advance(by: 7_198_999)
        #expect(try await bench.claim("delay").isEmpty)
        #expect(try await bench.claim("retry").isEmpty)
        #expect(try await bench.claim("date").isEmpty == (step < 0))
        try await bench.advance(by: 1)
        #expect(try await bench.claim("delay").count == 1)
        #expect(try await bench.claim("retry").count == 1)
        try await bench.advance(by: 3_600_000)
        if step < 0 { #expect(try await bench.claim("date").count == 1) }
    }

    @Test(
        "Times hold over a restart, in which the steady clock begins anew",
        arguments: StoreKind.all(.survives)
    )
    func restart(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.advance(by: 500_000)
        try await bench.accept { $0.due = .after(.seconds(60)) }
        try await bench.reopen(after: 50_000)
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 10_000)
        #expect(try await bench.claim().count == 1)
    }

    @Test(
        "A machine that boots in 1970 makes nothing early, and goes on once its clock is set",
        arguments: StoreKind.all([.survives, .wallSteps])
    )
    func badBoot(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        let dated = try await bench.accept { $0.due = .date(start + 60_000) }
        let delayed = try await bench.accept { $0.due = .after(.seconds(60)) }
        try await bench.reopen(after: -start)
        try await bench.advance(by: 10_000)
        #expect(try await bench.claim().isEmpty)
        bench.stepWall(by: start + 30_000)
        try await bench.advance(by: 1_000)
        #expect(try await bench.claim().isEmpty)
        #expect(try await bench.job(dated).runAt == start + 60_000)
        try await bench.advance(by: 20_000)
        #expect(try await bench.claim().map(\.token.id) == [dated])
        try await bench.advance(by: 30_000)
        #expect(try await bench.claim().map(\.token.id) == [delayed])
    }

    @Test(
        "A job that waits too long expires, whatever it waits for; one that runs does not",
        arguments: StoreKind.all
    )
    func expiry(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let running = try await bench.accept { $0.expiresAfter = .seconds(10) }
        let claim = try await bench.claim()[0]
        let queued = try await bench.accept { $0.expiresAfter = .seconds(10) }
        let held = try await bench.accept {
            $0.expiresAfter = .seconds(10)
            $0.record.submitter = JobRecord.Submitter(user: 7, unit: nil)
        }
        let later = try await bench.accept { $0.expiresAfter = .seconds(60) }
        try await bench.apply(.hold, held)
        try await bench.advance(by: 10_000)
        #expect(try await bench.claim().map(\.token.id) == [later])
        #expect(try await bench.state(queued) == .expired)
        // No sweep answers for the one that a claim has come upon.
        func expired(_ id: JobID, _ user: UInt32?) -> String {
            JobChange(id: id, route: "hooks", user: user, state: .expired, end: .expired).text
        }
        let met = expired(queued, nil)
        #expect(try await bench.ended() == [met])
        let report = try await bench.store.sweep(Retention(), limit: 10, at: bench.now)
        #expect(report.ended.map(\.text) == [expired(held, 7)])
        #expect(try await bench.store.sweep(Retention(), limit: 10, at: bench.now).ended.isEmpty)
        #expect(try await bench.ended() == [met])
        #expect(try await bench.job(held).state == .expired)
        #expect(try await bench.job(held).end == .expired)
        #expect(try await bench.state(running) == .running)
        #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded))
        // A replay has no time limit any more.
        try await bench.apply(.retry, held)
        #expect(try await bench.claim().map(\.token.id) == [held])
    }

    @Test(
        "Jobs that are over go when their time has come, and their bodies before",
        arguments: StoreKind.all
    )
    func retention(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let answer = StoredAnswer(status: 500, fields: HeaderFields(), body: .bytes([7]))
        let good = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .succeeded, answer: answer)
        let bad = try await bench.accept { $0.record.labels = ["a=b"] }
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted), answer: answer)
        let waiting = try await bench.accept()
        let hour: Int64 = 3_600_000
        try await bench.advance(by: 24 * hour - bench.tick)
        #expect(try await bench.store.sweep(Retention(), limit: 10, at: bench.now).removed == 0)
        try await bench.advance(by: bench.tick)
        let removed = try await bench.store.sweep(Retention(), limit: 10, at: bench.now).removed
        #expect(removed == (kind.capabilities.contains(.removesSingly) ? 1 : 0))
        #expect(try await bench.store.job(good) == nil)
        #expect(try await bench.store.answer(of: good) == nil)
        try await bench.advance(by: 6 * 24 * hour)
        #expect(try await bench.store.sweep(Retention(), limit: 10, at: bench.now).expunged == 1)
        #expect(try await bench.store.body(of: bad) == .expunged)
        #expect(try await bench.store.answer(of: bad)?.body == .expunged)
        #expect(try await bench.store.answer(of: bad)?.status == 500)
        #expect(try await bench.job(bad).hasBody == false)
        #expect(try await bench.apply(.retry, bad).expunged == 1)
        try await bench.advance(by: 23 * 24 * hour)
        #expect(try await bench.store.sweep(Retention(), limit: 10, at: bench.now).removed == 1)
        var byLabel = JobFilter()
        byLabel.label = "a=b"
        #expect(try await bench.store.jobs(byLabel, order: .oldestFirst, limit: 10, after: nil).jobs.isEmpty)
        #expect(try await bench.state(waiting) == .queued)
        #expect(try await bench.counts() == [.queued: 1])
    }

    @Test(
        "The rest of a backoff outlives a hold and a step of the clock, also of a job with a date",
        arguments: StoreKind.all(.wallSteps)
    )
    func heldBackoff(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        let id = try await bench.accept { $0.due = .date(start) }
        try await bench.settle(try await bench.claim()[0], .retry(after: .seconds(60), .backoff))
        try await bench.apply(.hold, id)
        try await bench.advance(by: 10_000)
        try await bench.apply(.release, id)
        let job = try await bench.job(id)
        #expect(job.state == .retrying && job.reason == .backoff && job.runAt == start + 60_000)
        bench.stepWall(by: 100_000)
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 50_000)
        #expect(try await bench.claim().map(\.token.id) == [id])
    }

    @Test(
        "A job that is put aside before its time waits for the rest of it",
        arguments: StoreKind.all(.survives)
    )
    func heldDelay(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        let id = try await bench.accept { $0.due = .after(.seconds(600)) }
        try await bench.apply(.hold, id)
        try await bench.advance(by: 300_000)
        try await bench.reopen()
        #expect(try await bench.state(id) == .held)
        try await bench.apply(.release, id)
        let job = try await bench.job(id)
        #expect(job.state == .scheduled && job.reason == .notBefore)
        #expect(bench.isAt(job.runAt, start + 600_000))
        try await bench.advance(by: 290_000)
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 10_000)
        #expect(try await bench.claim().map(\.token.id) == [id])
    }

    @Test("A sweep takes no more than it was told and says when there is more", arguments: StoreKind.all)
    func paced(kind: StoreKind) async throws {
        let bench = try await kind.open()
        for _ in 0..<5 { try await bench.accept { $0.expiresAfter = .seconds(1) } }
        try await bench.advance(by: 1_000)
        let first = try await bench.store.sweep(Retention(), limit: 3, at: bench.now)
        #expect(first.ended.count == 3 && first.hasMore)
        let second = try await bench.store.sweep(Retention(), limit: 3, at: bench.now)
        #expect(second.ended.count == 2 && !second.hasMore)
    }
}
