import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("The actions done to a job are on its record", .timeLimit(.minutes(5)))
struct ActionRecordTests {
    private func actions(_ bench: any StoreUnderTest, _ id: JobID) async throws -> [ActionRecord] {
        let extent = WholeJob.Extent(attempts: 0, hasBodies: false)
        return try #require(try await bench.store.whole(id, extent)).actions
    }

    @Test(
        "Each action that changes the job, with its time and who did it",
        arguments: StoreKind.all(.survives)
    )
    func kept(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let start = bench.now.wall
        #expect(try await actions(bench, id).isEmpty)
        try await bench.apply(.hold, id, by: 7)
        try await bench.advance(by: 10)
        try await bench.apply(.hold, id, by: 8)
        try await bench.apply(.release, id, by: nil)
        try await bench.advance(by: 10)
        try await bench.reopen()
        let claim = try await bench.claim()[0]
        let asked = bench.now.wall
        try await bench.apply(.cancel, JobFilter(ids: [id]), by: .user(9, isBulk: true))
        try await bench.settle(claim, .retry(after: .seconds(1), .backoff))
        try await bench.advance(by: 10)
        try await bench.apply(.retry, id, by: 7)
        try await bench.apply(.cancel, id, by: 7)
        try await bench.apply(.expunge, id, by: 7)
        let wanted = [
            ActionRecord(.hold, at: start, by: 7, isBulk: false),
            ActionRecord(.release, at: start + 10, by: nil, isBulk: false),
            ActionRecord(.cancel, at: asked, by: 9, isBulk: true, isAsked: true),
            ActionRecord(.retry, at: asked + 10, by: 7, isBulk: false),
            ActionRecord(.cancel, at: asked + 10, by: 7, isBulk: false),
            ActionRecord(.expunge, at: asked + 10, by: 7, isBulk: false),
        ]
        for _ in 0..<2 {
            let found = try await actions(bench, id)
            #expect(found.count == wanted.count)
            for (one, other) in zip(found, wanted) {
                var timed = other
                timed.at = one.at
                #expect(one == timed && bench.isAt(one.at, other.at))
            }
            try await bench.reopen()
        }
    }

    @Test("The last sixteen, and nothing of what a pause lets go", arguments: StoreKind.all)
    func bounded(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
        arguments: StoreKind.all(.survives)
    )
    func named(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
}
