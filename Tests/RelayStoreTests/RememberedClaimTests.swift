import RelayBase
import RelayJobs
import RelayStore
import RelayStoreBench
import RelayTestSupport
import Testing

@Suite("Claims of jobs that the store still has in memory", .timeLimit(.minutes(5)))
struct RememberedClaimTests {
    @Test("They are those that were accepted, and what happened to them since counts")
    func same() async throws {
        let bench = try await SQLiteBench()
        var jobs: [NewJob] = []
        for index in 0..<6 {
            // Those with a large body are read, the others known.
            let body = index % 2 == 0 ? "body \(index)" : SQLiteBench.unremembered
            let job = bench.newJob(body: body) { $0.record.labels = ["n=\(index)"] }
            #expect(try await bench.store.enqueue([job], at: bench.now) == [.accepted])
            jobs.append(job)
        }
        for index in [0, 1] { try await bench.apply(.cancel, jobs[index].record.id) }
        for index in [2, 3] {
            try await bench.apply(.hold, jobs[index].record.id)
            try await bench.apply(.release, jobs[index].record.id)
        }
        let claims = try await bench.claim()
        #expect(Set(claims.map(\.token.id)) == Set(jobs[2...].map(\.record.id)))
        for claim in claims {
            let job = try #require(jobs.first { $0.record.id == claim.token.id })
            #expect(claim.job.record.labels == job.record.labels && claim.body == job.body)
            let stored = try await bench.job(claim.token.id)
            #expect(stored.state == claim.job.state && stored.begun == claim.job.begun)
            #expect(stored.createdAt == claim.job.createdAt && stored.bodyLength == claim.job.bodyLength)
        }
        #expect(try await bench.claim().isEmpty)
    }

    @Test("More than it remembers are claimed all the same, each once and with its own body")
    func many() async throws {
        let bench = try await SQLiteBench()
        let jobs = (0..<1_030).map { bench.newJob(body: "body \($0)") }
        _ = try await bench.store.enqueue(jobs, at: bench.now)
        let claims = try await bench.claim("hooks", 10) + bench.claim("hooks", 1_020)
        #expect(claims.map(\.token.id) == jobs.map(\.record.id))
        #expect(claims.map(\.body) == jobs.map(\.body))
        #expect(try await bench.claim().isEmpty)
    }
}
