import RelayBase
import RelayJobs
import RelayStore
import RelayStoreBench
import RelayTestSupport
import Testing

@Suite("A store tells of the jobs that are over soon", .timeLimit(.minutes(5)))
struct EndingTests {
    @Test("A look is bounded: at so many jobs of all routes, and at fewer of each where they are many")
    func bounds() async throws {
        let bench = try await SQLiteBench()
        for route in ["a", "b"] {
            for _ in 0..<20 {
                let jobs = (0..<500).map { _ in bench.newJob(route) { $0.expiresAfter = .seconds(60) } }
                _ = try await bench.store.enqueue(jobs, at: bench.now)
            }
        }
        let found = try await bench.store.ending(by: bench.now.wall + 60_000, of: [])
        let count = found.values.reduce(0) { $0 + $1.expiring.count }
        // Eight blocks of plain jobs.
        #expect((4_096...8_192).contains(count), "\(count)")
    }
}
