import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A plain job that is not what was stored is never sent again", .timeLimit(.minutes(5)))
struct PlainDamageTests {
    private func change(_ bench: SQLiteBench, _ sql: String, of id: JobID? = nil) throws {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
        var sql = sql
        if let id { sql += " WHERE seq = \(try #require(try database.seq(of: id)))" }
        try database.execute(sql)
    }

    private func corrupt(_ id: JobID, user: UInt32? = nil) -> String {
        JobChange(id: id, route: "hooks", user: user, state: .dead, end: .corrupt).text
    }

    @Test(
        "After a crash with a damaged record of claims the jobs it may be of are given up and told once, all others go on",
        arguments: [true, false]
    )
    func claims(isReachKnown: Bool) async throws {
        let bench = try await SQLiteBench()
        let first = try await bench.accept()
        let sent = [try await bench.accept(), try await bench.accept()]
        let last = try await bench.accept()
        let usual = try await bench.accept { $0.record.labels = ["l"] }
        try await bench.settle(try await bench.claim("hooks", 1)[0], .retry(after: .seconds(1), .backoff))
        #expect(try await bench.claim("hooks", 2).map(\.token.id) == sent)
        await bench.store.close()
        // No number that was ever given, either.
        let rest = isReachKnown ? "" : ", low = low + 1, n = 9223372036854775807"
        try change(bench, "UPDATE claimed SET record = record || x'00'\(rest)")
        try await bench.reopen()
        let given = isReachKnown ? sent : sent + [last]
        #expect(try await bench.ended() == given.map { corrupt($0) })
        for id in given { #expect(try await bench.job(id).end == .corrupt) }
        #expect(try await bench.store.facts().corruptRecords > 0)
        try await bench.reopen()
        #expect(try await bench.ended().count == given.count)
        #expect(try await bench.store.facts().corruptRecords == 0)
        try await bench.advance(by: 2_000)
        let claimed = Set(try await bench.claim().map(\.token.id))
        #expect(claimed == Set(isReachKnown ? [first, last, usual] : [first, usual]))
    }

    @Test(
        "With a wrong byte in any part of its row it is told as given up, and the one behind it is claimed",
        arguments: [
            "record = x'00' || record", "route = route + 1", "lane = 5", "lane = 9", "run_at = run_at - 1",
            "expires = 1", "expires = NULL", "created = created + 1", "user = 7",
            "run_at = -9223372036854775808", "created = -9223372036854775808",
        ]
    )
    func row(change: String) async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept { $0.expiresAfter = .seconds(3_600) }
        let next = try await bench.accept()
        await bench.store.close()
        try self.change(bench, "UPDATE plain SET \(change)", of: id)
        try await bench.reopen()
        _ = try await bench.store.sweep(Retention(), limit: 100, at: bench.now)
        #expect(try await bench.claim().map(\.token.id) == [next])
        // Of one whose route is not to be believed nobody can be told.
        if change != "route = route + 1" {
            #expect(try await bench.ended() == [corrupt(id, user: change == "user = 7" ? 7 : nil)])
        }
        await #expect(throws: StoreError.self) { try await bench.store.job(id) }
        try await bench.reopen()
        #expect(try await bench.ended().count <= 1)
    }

    @Test("A zone that counts jobs which are not there is mended by the start that tells of it")
    func miscounted() async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept()
        await bench.store.close()
        try change(bench, "UPDATE zone SET open = open + 2")
        try await bench.reopen()
        #expect(try await bench.store.facts().corruptRecords == 1)
        try await bench.reopen()
        #expect(try await bench.store.facts().corruptRecords == 0)
        #expect(try await bench.claim().map(\.token.id) == [id])
    }

    @Test("One that was in flight is given up at the start, and told", arguments: [true, false])
    func running(isBorn: Bool) async throws {
        let bench = try await SQLiteBench()
        let job = bench.newJob { if isBorn { $0.upstream = "eu" } }
        _ = try await bench.store.enqueue([job], at: bench.now)
        if !isBorn { #expect(try await bench.claim().count == 1) }
        let next = try await bench.accept()
        await bench.store.close()
        try change(bench, "UPDATE plain SET record = record || x'00'", of: job.record.id)
        try await bench.reopen()
        #expect(try await bench.ended() == [corrupt(job.record.id)])
        #expect(try await bench.claim().map(\.token.id) == [next])
    }

    @Test(
        "One whose record of success is lost or damaged is not taken for one that waits",
        arguments: [
            "DELETE FROM ended", "UPDATE ended SET record = x'00' || record",
            "UPDATE ended SET fin = fin + 1",
        ],
        [true, false]
    )
    func success(damage: String, hasOther: Bool) async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .succeeded)
        let other = hasOther ? try await bench.accept() : nil
        await bench.store.close()
        try change(bench, damage, of: id)
        try await bench.reopen()
        let claimed = try await bench.claim().map(\.token.id)
        if damage == "DELETE FROM ended", let other {
            // Which of the two was sent cannot be known.
            #expect(claimed.isEmpty)
            #expect(try await bench.ended() == [corrupt(id), corrupt(other)])
        } else {
            #expect(claimed == [other].compactMap { $0 })
            await #expect(throws: StoreError.self) { try await bench.store.job(id) }
        }
        // It keeps no sweep from its rest.
        try await bench.advance(by: 60 * 86_400_000)
        while try await bench.store.sweep(Retention(), limit: 100, at: bench.now).hasMore {}
    }

    @Test("A scheduled one is given up when its time comes, and those beside it wake")
    func scheduled() async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept { $0.due = .after(.seconds(1)) }
        let next = try await bench.accept { $0.due = .after(.seconds(2)) }
        try change(bench, "UPDATE plain SET record = record || x'00'", of: id)
        try await bench.advance(by: 1_000)
        #expect(try await bench.claim().isEmpty)
        #expect(try await bench.ended() == [corrupt(id)])
        try await bench.advance(by: 1_000)
        #expect(try await bench.claim().map(\.token.id) == [next])
        #expect(try await bench.store.sweep(Retention(), limit: 9, at: bench.now).hasMore == false)
    }

    @Test("A late settlement of one whose success is lost changes nothing beside it")
    func late() async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept()
        let claim = try await bench.claim()[0]
        try await bench.settle(claim, .succeeded)
        try change(bench, "DELETE FROM ended", of: id)
        #expect(try await bench.settle(claim, .succeeded) == .stale)
        let other = try await bench.accept()
        try await bench.reopen()
        #expect(try await bench.claim().map(\.token.id) == [other])
    }

    @Test("Jobs whose row of counts is lost are damaged and not queued for ever in silence")
    func zone() async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept()
        await bench.store.close()
        try change(bench, "DELETE FROM zone")
        try await bench.reopen()
        await #expect(throws: StoreError.self) { try await bench.store.job(id) }
        #expect(try await bench.claim().isEmpty)
    }
}
