import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A store on disk does what the plain one in memory does", .timeLimit(.minutes(5)))
struct WalkTests {
    /// Now none of the ordering keys are written until the next start looks for them, now nearly all.
    private func bench(_ seed: UInt64, fault: StoreFault? = nil) async throws -> SQLiteBench {
        try await SQLiteBench(orderingKeysInMemory: [2, 4, 32_768][Int(seed % 3)], fault: fault)
    }

    @Test(
        "Thousands of random steps, crashes and clock steps between them, leave both the same",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64]
    )
    func walk(seed: UInt64) async throws {
        var walk = StoreWalk(try await bench(seed), seed: seed)
        for step in 0..<1_500 {
            try await walk.step()
            if step % 100 == 99 { try await walk.compare("seed \(seed), step \(step)") }
        }
    }

    @Test(
        "They leave both the same when a job of the store changes its form behind every step",
        arguments: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as [UInt64]
    )
    func unfolding(seed: UInt64) async throws {
        var walk = StoreWalk(try await bench(seed), seed: seed)
        for step in 0..<1_000 {
            try await walk.step()
            try await walk.rearrange()
            if step % 100 == 99 { try await walk.compare("seed \(seed), step \(step)") }
        }
    }

    @Test(
        "A store that does not keep what was claimed on record does not pass",
        arguments: [.losesClaims, .decidesAgain] as [StoreFault]
    )
    func fault(_ fault: StoreFault) async throws {
        var walk = StoreWalk(try await bench(1, fault: fault), seed: 1, hasFault: true)
        for _ in 0..<40 {
            for _ in 0..<20 { try await walk.step() }
            try await walk.crash(after: 30_000)
            if try await walk.differs() { return }
        }
        Issue.record("it went unseen")
    }
}
