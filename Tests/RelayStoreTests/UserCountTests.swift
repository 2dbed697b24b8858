import RelayJobs
import RelayStore
import RelayStoreBench
import RelayTestSupport
import Testing

@Suite("The users' jobs are counted in steps", .timeLimit(.minutes(5)))
struct UserCountTests {
    @Test("Steps of whatever size come to the same", arguments: [1, 2, 5, 12, 10_000] as [Int64])
    func spans(span: Int64) async throws {
        let bench = try await SQLiteBench()
        for index in 0..<12 {
            let id = try await bench.accept {
                let user: UInt32? = [nil, 1_000, 4_000_000_000][index % 3]
                $0.record.submitter = user.map { JobRecord.Submitter(user: $0, unit: nil) }
            }
            switch index {
            case 0, 7: try await bench.apply(.cancel, id)
            case 1, 5, 6: try await bench.apply(.drop, id)
            case 2: try await bench.apply(.hold, id)
            default: break
            }
        }
        _ = try await bench.claim("hooks", 1)
        let store = try #require(bench.store as? SQLiteJobStore)
        #expect(try await store.unfinishedByUser(span: span) == [nil: 2, 1_000: 2, 4_000_000_000: 3])
    }
}
