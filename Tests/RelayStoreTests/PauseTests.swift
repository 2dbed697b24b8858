import RelayBase
import RelayJobs
import RelayStore
import RelayTestSupport
import Testing

@Suite("A paused route stays paused", .timeLimit(.minutes(5)))
struct PauseTests {
    @Test("Until it is resumed, over restarts, each route by itself", arguments: StoreKind.allCases)
    func lasting(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let byHand = RoutePause(
            reason: "maintenance – büro",
            began: 1_800_000_000_000,
            by: Principal(1_001, name: "alice")
        )
        let byRule = RoutePause(reason: "410", began: -5, until: 1_800_000_600_000, rule: "gone")
        try await bench.store.pause("hooks", byRule, at: bench.now)
        try await bench.store.pause("hooks", byHand, at: bench.now)
        try await bench.store.pause("other", byRule, at: bench.now)
        try await bench.store.pause("third", nil, at: bench.now)
        for _ in 0..<2 {
            #expect(try await bench.store.pauses() == ["hooks": byHand, "other": byRule])
            try await bench.reopen()
        }
        try await bench.store.pause("hooks", nil, at: bench.now)
        try await bench.reopen()
        #expect(try await bench.store.pauses() == ["other": byRule])
    }

    @Test("A pause whose record is damaged is still a pause, says so, and can be ended")
    func damaged() async throws {
        let bench = try await StoreBench(.sqlite)
        let other = RoutePause(reason: "kept as it was", began: 1)
        try await bench.store.pause("other", other, at: bench.now)
        try await bench.store.pause("hooks", RoutePause(reason: "maintenance", began: 5), at: bench.now)
        await bench.store.close()
        let path = bench.scratch.path + "/jobs.db"
        let bytes = Files.read(path)
        let text = Array("maintenance".utf8)
        let place = try #require(
            bytes.indices.dropLast(text.count).first { bytes[$0..<$0 + text.count].elementsEqual(text) }
        )
        Files.write(path, [0x4D], at: place)
        try await bench.reopen()
        let pauses = try await bench.store.pauses()
        #expect(pauses["other"] == other && pauses.count == 2)
        #expect(pauses["hooks"]?.reason.contains("damaged") == true && pauses["hooks"]?.until == nil)
        try await bench.reopen()
        #expect(try await bench.store.pauses().count == 2)
        #expect(try await bench.store.facts().corruptRecords == 1)
        try await bench.store.pause("hooks", nil, at: bench.now)
        #expect(try await bench.store.pauses() == ["other": other])
    }
}
