import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A run goes through the jobs there were, each once", .timeLimit(.minutes(5)))
struct RunTests {
    private func run(_ action: JobAction, _ change: (inout JobFilter) -> Void = { _ in }) -> ActionRun {
        var filter = JobFilter()
        change(&filter)
        return ActionRun(action, filter, by: Principal(1_001, name: "alice"), at: 1_800_000_000_000)
    }

    private func dead(_ bench: SQLiteBench, _ count: Int, route: String = "hooks") async throws -> [JobID] {
        var ids: [JobID] = []
        for _ in 0..<count { ids.append(try await bench.accept(route)) }
        for claim in try await bench.claim(route) {
            try await bench.settle(claim, .dead(.exhausted), kind: "http_status")
        }
        return ids
    }

    private func begin(_ run: ActionRun, _ bench: SQLiteBench) async throws -> ActionRun {
        try #require(try await bench.store.begin(run, at: bench.now))
    }

    @Test("A page and the note of how far the run is are on disk together, wherever a crash comes")
    func together() async throws {
        let bench = try await SQLiteBench()
        let ids = try await dead(bench, 12)
        let run = try await begin(run(.retry) { $0.states = [.dead] }, bench)
        for _ in 0..<4 {
            _ = try await bench.store.advance(run.number, by: RunStep(limit: 2), at: bench.now)
            // The files as a machine would find them that loses its power now.
            let copy = TemporaryFolder()
            for name in ["jobs.db", "jobs.db-wal"] {
                Files.write(copy.path + "/" + name, Files.read(bench.scratch.path + "/" + name))
            }
            let found = try await SQLiteJobStore.open(StoreOptions(directory: copy.path), at: bench.now)
            let (known, living) = (try await found.runs(), try await revived(ids, in: found))
            #expect(known.map(\.count.changed) == [living] && living > 0)
            await found.close()
        }
    }

    private func revived(_ ids: [JobID], in store: any JobStore) async throws -> Int {
        var count = 0
        for id in ids where try await store.job(id)?.state != .dead { count += 1 }
        return count
    }

    @Test("A run whose record is damaged has failed, says so, and does nothing")
    func damaged() async throws {
        let bench = try await SQLiteBench()
        let id = try await dead(bench, 1)[0]
        var new = run(.drop)
        new.why = "an uncommon reason"
        let run = try await begin(new, bench)
        await bench.store.close()
        let path = bench.scratch.path + "/jobs.db"
        let bytes = Files.read(path)
        let text = Array("uncommon".utf8)
        let place = try #require(
            bytes.indices.dropLast(text.count).first { bytes[$0..<$0 + text.count].elementsEqual(text) }
        )
        Files.write(path, [0x55], at: place)
        try await bench.reopen()
        let found = try #require(try await bench.store.runs().first)
        #expect(found.number == run.number && found.state == .failed)
        #expect(found.failure?.contains("damaged") == true)
        #expect(try await bench.store.advance(run.number, by: RunStep(limit: 9), at: bench.now) == nil)
        #expect(try await bench.state(id) == .dead)
        #expect(try await bench.store.facts().corruptRecords == 1)
    }

    @Test("A store of the eighth layout gets the table, and keeps its jobs")
    func migrated() async throws {
        let bench = try await SQLiteBench()
        let ids = try await dead(bench, 2)
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(SQLiteBench.eighthLayout)
        }
        try await bench.reopen()
        #expect(try await bench.store.runs().isEmpty)
        let run = try await begin(run(.retry), bench)
        let advance = try await bench.store.advance(run.number, by: RunStep(limit: 9), at: bench.now)
        #expect(advance?.report.changes.map(\.id) == ids && advance?.run.state == .done)
    }
}
