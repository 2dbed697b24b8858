import RelayBase
import RelayJobs
import RelayStore
import RelayStoreBench
import RelayTestSupport
import Testing

@Suite("Jobs that get another life, and those that cannot", .timeLimit(.minutes(5)))
struct ReplayTests {
    @Test("A body in a file goes with the settlement that drops it")
    func dropsFile() async throws {
        let bench = try await SQLiteBench()
        func files() async throws -> [String] {
            var job = bench.newJob()
            job.body = .bytes([UInt8](repeating: 3, count: 2 << 20))
            _ = try await bench.store.enqueue([job], at: bench.now)
            return TemporaryFolder.names(bench.scratch.path + "/bodies")
        }
        let before = try await files()
        #expect(before.count == 1)
        var settlement = Settlement(try await bench.claim()[0].token, .succeeded)
        settlement.dropsBody = true
        _ = try await bench.store.settle([settlement], at: bench.now)
        #expect(try await bench.store.facts().usedBytes < 1 << 20)
        // Files are written and removed one after the other: the next one there is alone.
        let after = try await files()
        #expect(after.count == 1 && after != before)
    }
}
