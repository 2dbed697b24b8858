import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("The actions done to a job are on its record", .timeLimit(.minutes(5)))
struct ActionRecordTests {
    private func actions(_ bench: StoreBench, _ id: JobID) async throws -> [ActionRecord] {
        let extent = WholeJob.Extent(attempts: 0, hasBodies: false)
        return try #require(try await bench.store.whole(id, extent)).actions
    }

    @Test("Each action that changes the job, with its time and who did it", arguments: StoreKind.allCases)
    func kept(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let id = try await bench.accept()
        let start = bench.now.wall
        #expect(try await actions(bench, id).isEmpty)
        try await bench.apply(.hold, id, by: 7)
        bench.advance(10)
        try await bench.apply(.hold, id, by: 8)
        try await bench.apply(.release, id, by: nil)
        bench.advance(10)
        try await bench.reopen()
        let claim = try await bench.claim()[0]
        let asked = bench.now.wall
        try await bench.apply(.cancel, JobFilter(ids: [id]), by: .user(9, isBulk: true))
        try await bench.settle(claim, .retry(after: .seconds(1), .backoff))
        bench.advance(10)
        try await bench.apply(.retry, id, by: 7)
        try await bench.apply(.cancel, id, by: 7)
        try await bench.apply(.expunge, id, by: 7)
        for _ in 0..<2 {
            #expect(
                try await actions(bench, id) == [
                    ActionRecord(.hold, at: start, by: 7, isBulk: false),
                    ActionRecord(.release, at: start + 10, by: nil, isBulk: false),
                    ActionRecord(.cancel, at: asked, by: 9, isBulk: true, isAsked: true),
                    ActionRecord(.retry, at: asked + 10, by: 7, isBulk: false),
                    ActionRecord(.cancel, at: asked + 10, by: 7, isBulk: false),
                    ActionRecord(.expunge, at: asked + 10, by: 7, isBulk: false),
                ]
            )
            try await bench.reopen()
        }
    }

    @Test("The last sixteen, and nothing of what a pause lets go", arguments: StoreKind.allCases)
    func bounded(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let id = try await bench.accept()
        for user in 0..<20 as Range<UInt32> {
            try await bench.apply(.hold, id, by: user)
            try await bench.apply(.release, JobFilter(ids: [id]), by: .pause)
        }
        let kept = try await actions(bench, id)
        #expect(kept.map(\.by?.user) == (4..<20).map { $0 } && kept.allSatisfy { $0.action == .hold })
    }

    @Test(
        "The name of who did it stays with it, also beside one whose name nobody knew",
        arguments: StoreKind.allCases
    )
    func named(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let id = try await bench.accept()
        let alice = Principal(1_001, name: "alice")
        for who in [Principal(7), alice, nil] {
            try await bench.apply(.hold, JobFilter(ids: [id]), by: .user(who, isBulk: false))
            try await bench.apply(.release, JobFilter(ids: [id]), by: .pause)
        }
        for _ in 0..<2 {
            #expect(try await actions(bench, id).map(\.by) == [Principal(7), alice, nil])
            try await bench.reopen()
        }
    }

    private func rows(_ bench: StoreBench) throws -> Int64 {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        return try database.number("SELECT count(*) FROM action")
    }

    @Test("It goes with the job, dropped or swept")
    func removed() async throws {
        let bench = try await StoreBench(.sqlite)
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
        let bench = try await StoreBench(.sqlite)
        let id = try await bench.accept()
        try await bench.unfold()
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(StoreBench.fifthLayout + "DROP TABLE action; PRAGMA user_version = 4")
        }
        try await bench.reopen()
        #expect(try await bench.state(id) == .queued)
        #expect(try await actions(bench, id).isEmpty)
        try await bench.apply(.hold, id)
        #expect(try await actions(bench, id).map(\.action) == [.hold])
    }

    @Test("Where it is damaged the job is told without it, and it begins anew")
    func damaged() async throws {
        let bench = try await StoreBench(.sqlite)
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
