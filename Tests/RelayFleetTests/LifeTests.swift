import RelayBase
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("The life of a job in a database", .timeLimit(.minutes(5)))
struct LifeTests {
    @Test("A job is kept, claimed, settled and told of")
    func life() async throws {
        let bench = try await PostgreSQLBench()
        let id = try await bench.accept()
        #expect(try await bench.state(id) == .queued)
        let claims = try await bench.claim()
        #expect(claims.map(\.token.id) == [id])
        #expect(claims.first?.body == .bytes(Array("body".utf8)))
        #expect(try await bench.state(id) == .running)
        #expect(
            try await bench.settle(claims[0], .retry(after: .seconds(5), .backoff), kind: "timeout")
                == .applied(.retrying)
        )
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 5_000)
        let again = try await bench.claim()
        #expect(again.map(\.token.id) == [id])
        #expect(try await bench.settle(again[0], .succeeded) == .applied(.succeeded))
        #expect(try await bench.settle(again[0], .succeeded) == .stale)
        #expect(try await bench.job(id).attempts == 2)
        #expect(try await bench.counts() == [.succeeded: 1])
    }
}
