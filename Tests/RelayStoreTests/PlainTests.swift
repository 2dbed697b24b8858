import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A job in two forms", .timeLimit(.minutes(5)))
struct PlainTests {
    private func rows(_ bench: SQLiteBench, _ table: String) throws -> Int64 {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        let select = try database.statement(text: "SELECT count(*) FROM \(table)")
        defer { select.reset() }
        _ = try select.step()
        return select.int(0)
    }

    @Test(
        "A life without anything of note takes a row at its acceptance and one at its success, and one for all its claims"
    )
    func rows() async throws {
        let bench = try await SQLiteBench()
        var born = bench.newJob()
        born.upstream = "eu"
        guard case .running(let token) = try await bench.store.enqueue([born], at: bench.now)[0] else {
            Issue.record("it was not claimed")
            return
        }
        for _ in 0..<5 { try await bench.accept() }
        let claims = try await bench.claim("hooks", 3)
        #expect(try (rows(bench, "plain"), rows(bench, "claimed"), rows(bench, "ended")) == (6, 1, 0))
        for (index, claim) in claims.enumerated() {
            #expect(try rows(bench, "claimed") == (index < 3 ? 1 : 0))
            try await bench.settle(claim, .succeeded)
        }
        let attempt = Attempt(number: 1, upstream: "eu", beganAt: bench.now.wall)
        _ = try await bench.store.settle([Settlement(token, .succeeded, attempts: [attempt])], at: bench.now)
        #expect(try (rows(bench, "plain"), rows(bench, "claimed"), rows(bench, "ended")) == (6, 0, 4))
        #expect(try (rows(bench, "job"), rows(bench, "payload"), rows(bench, "attempt")) == (0, 0, 0))
    }

    @Test("A few jobs that wait or run in an old block have rows of their own after a sweep, and go on")
    func stragglers() async throws {
        let bench = try await SQLiteBench()
        let (over, waiting, running) = (
            try await bench.accept(), try await bench.accept("b"), try await bench.accept("c")
        )
        try await bench.settle(try await bench.claim("hooks", 1)[0], .succeeded)
        // A start gives positions of other blocks.
        try await bench.reopen()
        let young = try await bench.accept()
        try await bench.reopen()
        let claim = try #require(try await bench.claim("c", 1).first)
        let before = try await bench.counts()
        while try await bench.store.sweep(Retention(), limit: 1, at: bench.now).hasMore {}
        #expect(try (rows(bench, "job"), rows(bench, "plain"), rows(bench, "claimed")) == (2, 2, 0))
        #expect(try rows(bench, "zone WHERE open > 0") == 1)
        #expect(try await bench.counts() == before)
        try await bench.settle(claim, .succeeded)
        #expect(try await bench.claim("b", 9).map(\.token.id) == [waiting])
        #expect(try await bench.claim("hooks", 9).map(\.token.id) == [young])
        for id in [over, running] { #expect(try await bench.job(id).state == .succeeded) }
    }

    @Test("A transaction that has never been leaves what waits and what runs as it was")
    func rollBack() async throws {
        let bench = try await SQLiteBench()
        let ids = [try await bench.accept(), try await bench.accept(), try await bench.accept()]
        let claim = try await bench.claim("hooks", 1)[0]
        let store = try #require(bench.store as? SQLiteJobStore)
        let (now, more) = (bench.now, [OfferedJob(bench.newJob())])
        await #expect(throws: StoreError.self) {
            try await store.write(.other, weight: 1) { writer throws(StoreError) in
                _ = try writer.enqueue(more, at: now)
                _ = try writer.claim("hooks", limit: 2, upstream: "eu", at: now)
                let attempt = Attempt(number: 1, upstream: "eu", beganAt: now.wall)
                _ = try writer.settle([Settlement(claim.token, .succeeded, attempts: [attempt])], at: now)
                throw StoreError(.corrupt, "a page is not what was stored")
            }
        }
        #expect(try rows(bench, "claimed") == 1)
        #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded, nil))
        #expect(try await bench.claim().map(\.token.id) == [ids[1], ids[2]])
        #expect(try (rows(bench, "claimed"), rows(bench, "ended"), rows(bench, "plain")) == (1, 1, 3))
    }

    @Test("Jobs that go from the middle of a line leave the others in order, and the oldest is known")
    func line() {
        var jobs = PlainJobs()
        let lane = JobQueue(ClaimTurns.party(of: 7), 0)
        for seq in 1...Int64(3_000) {
            jobs.wait(seq, route: 1, lane, runAt: seq, expiresAt: nil, created: seq)
        }
        for seq in 1...Int64(3_000) where seq % 3 > 0 { _ = jobs.close(seq, route: 1) }
        #expect(jobs.waiting == 1_000)
        var found: [Int64] = []
        jobs[1]?.eachWaiting { found.append($0.seq) }
        #expect(found == (1...1_000).map { $0 * 3 })
        #expect(jobs[1]?.oldest == 3)
        for seq in found.dropLast() { _ = jobs.close(seq, route: 1) }
        #expect(jobs[1]?.oldest == 3_000 && jobs[1]?.first(in: lane)?.seq == 3_000)
        _ = jobs.close(3_000, route: 1)
        #expect(jobs[1]?.oldest == nil && jobs.waiting == 0)
    }
}

@Suite("A store of the sixth layout", .timeLimit(.minutes(5)))
struct SixthLayoutTests {
    @Test("It is brought to this one with all its jobs, and each is found by its id")
    func migrated() async throws {
        let bench = try await SQLiteBench()
        var ids: [JobID] = []
        for index in 0..<40 {
            ids.append(try await bench.accept { if index % 4 == 0 { $0.record.orderingKey = "k" } })
        }
        let claims = try await bench.claim("hooks", 10)
        for claim in claims.prefix(6) { try await bench.settle(claim, .succeeded) }
        try await bench.rearrange()
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(SQLiteBench.sixthLayout)
        }
        try await bench.reopen()
        #expect(try await bench.counts() == [.succeeded: 6, .queued: 30, .retrying: 4])
        for id in ids { #expect(try await bench.job(id).record.id == id) }
        let again = bench.newJob { $0.record.labels = ["l"] }
        var same = again
        same.record = JobRecord(id: ids[3], route: "hooks", method: .post, target: "t")
        #expect(
            try await bench.store.enqueue([again, same], at: bench.now) == [.accepted, .duplicate(ids[3])]
        )
        try await bench.accept()
        #expect(try await bench.claim().count == 28)
    }

    @Test("A start that was cut off in the middle of that is made again by the next")
    func cutOff() throws {
        let scratch = TemporaryFolder()
        let path = scratch.path + "/old.db"
        let database = try Database(path, readOnly: false)
        for step in Schema.migrations[..<6] { try database.execute(step) }
        try database.execute(
            "PRAGMA journal_mode = WAL; PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 6"
        )
        // A table of the new layout stands in the way: the step fails after its first statements.
        try database.execute("CREATE TABLE zone(route)")
        #expect(throws: StoreError.self) { try Schema.migrate(database) }
        #expect(try database.number("PRAGMA user_version") == 6)
        #expect(
            try database.number("SELECT count(*) FROM sqlite_schema WHERE name IN ('id', 'plain', 'ended')")
                == 0
        )
        try database.execute("DROP TABLE zone")
        try Schema.migrate(database)
        #expect(try database.number("PRAGMA user_version") == Schema.version)
    }
}
