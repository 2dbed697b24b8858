import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A store of the seventh layout", .timeLimit(.minutes(5)))
struct SeventhLayoutTests {
    /// A store with so many jobs of user 0, and as many of user 1 behind them.
    private func bench(_ count: Int) async throws -> (SQLiteBench, first: Set<JobID>, second: Set<JobID>) {
        let bench = try await SQLiteBench()
        var ids: [Set<JobID>] = [[], []]
        for user in 0..<2 {
            for _ in 0..<count {
                let id = try await bench.accept {
                    $0.record.submitter = JobRecord.Submitter(user: UInt32(user), unit: nil)
                }
                ids[user].insert(id)
            }
        }
        try await bench.rearrange()
        return (bench, ids[0], ids[1])
    }

    private func number(_ bench: SQLiteBench, _ query: String) throws -> Int64 {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        let select = try database.statement(text: query)
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    @Test("Its jobs are given their turns step by step, however often it is opened meanwhile")
    func turned() async throws {
        let (bench, _, second) = try await bench(1_200)
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(SQLiteBench.seventhLayout)
        }
        for _ in 0..<3 { try await bench.reopen() }
        var steps = 0
        while try number(bench, "SELECT count(*) FROM meta WHERE k = 'unturned'") > 0, steps < 1_000 {
            // It goes on between what others ask for.
            _ = try await bench.store.settle([], at: bench.now)
            steps += 1
        }
        #expect(try number(bench, "SELECT count(*) FROM job WHERE lane BETWEEN 0 AND 7") == 0)
        let claims = try await bench.claim("hooks", 10).map(\.token.id)
        #expect(claims.filter { second.contains($0) }.count == 5)
        var rest = 0
        for _ in 0..<3 { rest += try await bench.claim("hooks", 1_000).count }
        #expect(rest == 2_400 - 10)
    }

    @Test("Until then they have one turn together beside others, and each is claimed once")
    func unturned() async throws {
        let (bench, first, second) = try await bench(20)
        try await bench.apply(.cancel, try #require(first.first))
        try await bench.apply(.hold, try #require(second.first))
        let newest = try await bench.accept { $0.record.submitter = JobRecord.Submitter(user: 3, unit: nil) }
        let store = try #require(bench.store as? SQLiteJobStore)
        let now = bench.now
        let claims = try await store.write(.other, weight: 1) { writer throws(StoreError) in
            try writer.database.execute("UPDATE job SET lane = lane & 7 WHERE lane > 15")
            writer.usual.removeAll()
            let early = try writer.claim("hooks", limit: 4, upstream: "eu", at: now)
            let rest = try writer.claim("hooks", limit: 100, upstream: "eu", at: now)
            return (early.claims.map(\.token.id), rest.claims.map(\.token.id), rest.nextDue)
        }
        #expect(claims.0.contains(newest) && claims.0.filter { first.contains($0) }.count == 3)
        #expect(claims.1.count == 39 - 4 && Set(claims.0 + claims.1).count == 39)
        #expect(claims.2 == nil)
    }
}
