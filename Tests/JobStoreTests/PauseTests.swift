import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A paused route stays paused", .timeLimit(.minutes(5)))
struct PauseTests {
    @Test("Until it is resumed, over restarts, each route by itself", arguments: StoreKind.all(.survives))
    func lasting(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
}
