import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("The actions done to a job are on its record", .timeLimit(.minutes(5)))
struct ActionRecordTests {
    private func actions(_ bench: SQLiteBench, _ id: JobID) async throws -> [ActionRecord] {
        let extent = WholeJob.Extent(attempts: 0, hasBodies: false)
        return try #require(try await bench.store.whole(id, extent)).actions
    }

    private func rows(_ bench: SQLiteBench) throws -> Int64 {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        return try database.number("SELECT count(*) FROM action")
    }

    @Test("It goes with the job, dropped or swept")
    func removed() async throws {
        let bench = try await SQLiteBench()
        let dropped = try await bench.accept()
        try await bench.apply(.hold, dropped)
        let swept = try await bench.accept()
        try await bench.apply(.cancel, swept)
        try await bench.accept()
        #expect(try rows(bench) == 2)
        try await bench.apply(.drop, dropped)
        #expect(try rows(bench) == 1)
        var retention = Retention()
        retention.dead = .zero
        #expect(try await bench.store.sweep(retention, limit: 10, at: bench.now).removed == 1)
        #expect(try rows(bench) == 0)
    }

    @Test("A store of the version before has none of it, and keeps it from then on")
    func migrated() async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept()
        try await bench.rearrange()
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(SQLiteBench.fifthLayout + "DROP TABLE action; PRAGMA user_version = 4")
        }
        try await bench.reopen()
        #expect(try await bench.state(id) == .queued)
        #expect(try await actions(bench, id).isEmpty)
        try await bench.apply(.hold, id)
        #expect(try await actions(bench, id).map(\.action) == [.hold])
    }

    @Test("Where it is damaged the job is told without it, and it begins anew")
    func damaged() async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.accept()
        try await bench.apply(.hold, id)
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
        try database.execute("UPDATE action SET record = x'00' || record")
        #expect(try await actions(bench, id).isEmpty)
        #expect(try await bench.store.facts().corruptRecords == 1)
        try await bench.apply(.release, id)
        #expect(try await actions(bench, id).map(\.action) == [.release])
    }
}
