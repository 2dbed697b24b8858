import RelayBase
import RelayTestSupport
import Testing

@Suite("A store does what the plain one in memory does", .timeLimit(.minutes(5)))
struct WalkTests {
    @Test(
        "Random steps leave both the same",
        arguments: StoreKind.all(.stillClock).filter { $0.name != StoreKind.memory.name },
        [11, 12, 13] as [UInt64]
    )
    func walk(kind: StoreKind, seed: UInt64) async throws {
        var walk = StoreWalk(try await kind.open(), kind.capabilities, seed: seed)
        for step in 0..<600 {
            try await walk.step()
            if step % 10 == 9 { try await walk.rearrange() }
            if step % 100 == 99 { try await walk.compare("seed \(seed), step \(step)") }
        }
    }
}
