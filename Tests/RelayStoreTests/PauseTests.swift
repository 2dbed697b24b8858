import RelayBase
import RelayJobs
import RelayStore
import RelayStoreBench
import RelayTestSupport
import Testing

@Suite("A paused route stays paused", .timeLimit(.minutes(5)))
struct PauseTests {
    @Test("A pause whose record is damaged is still a pause, says so, and can be ended")
    func damaged() async throws {
        let bench = try await SQLiteBench()
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
