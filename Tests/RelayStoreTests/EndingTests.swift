import RelayBase
import RelayJobs
import RelayStore
import Testing

@Suite("A store tells of the jobs that are over soon", .timeLimit(.minutes(5)))
struct EndingTests {
    private typealias Share = EndingJobs.Share

    @Test(
        "Those that expire by a moment, with the first of them, and those on hold apart",
        arguments: StoreKind.allCases
    )
    func expiring(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let began = bench.now.wall
        let end = began + 60_000
        #expect(try await bench.store.ending(by: end, of: []) == [:])
        for seconds in [90, 60, 30, 61] as [Int64] {
            try await bench.accept("a") { $0.expiresAfter = .seconds(seconds) }
        }
        try await bench.accept("a")
        let held = try await bench.accept("b") { $0.expiresAfter = .seconds(10) }
        try await bench.apply(.hold, held)
        let over = try await bench.accept("b") { $0.expiresAfter = .seconds(5) }
        try await bench.apply(.cancel, over)
        var wanted = ["a": EndingJobs(), "b": EndingJobs()]
        wanted["a"]?.expiring = Share(2, first: began + 30_000)
        wanted["b"]?.held = Share(1, first: began + 10_000)
        #expect(try await bench.store.ending(by: end, of: []) == wanted)
        // Those that have been tried stand elsewhere, and one that is under way has its time.
        let claims = try await bench.claim("a", 3)
        try await bench.settle(claims[1], .retry(after: .seconds(1), .backoff), kind: "dns_error")
        try await bench.settle(claims[2], .retry(after: .seconds(1), .backoff), kind: "dns_error")
        let found = try await bench.store.ending(by: end, of: [])
        #expect(found["a"]?.expiring.count == 2, "\(found)")
        // A clock that was set forward brings no expiry nearer.
        bench.stepWall(3_600_000)
        try await bench.accept("c")
        #expect(try await bench.store.ending(by: end, of: [])["b"] == nil)
        #expect(
            try await bench.store.ending(by: end + 3_600_000, of: [])["b"]?.held
                == Share(1, first: began + 3_610_000)
        )
    }

    @Test(
        "Those that have failed and are due, by what they failed of and as often",
        arguments: StoreKind.allCases
    )
    func failed(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let began = bench.now.wall
        for _ in 0..<4 { try await bench.accept("a") { $0.expiresAfter = .seconds(7_200) } }
        let claims = try await bench.claim("a")
        try await bench.settle(claims[0], .retry(after: .seconds(30), .backoff), kind: "http_status")
        try await bench.settle(claims[1], .retry(after: .seconds(20), .backoff), kind: "http_status")
        try await bench.settle(
            claims[2],
            .retry(after: .seconds(30), .backoff),
            attempts: 3,
            kind: "dns_error"
        )
        try await bench.settle(claims[3], .retry(after: .seconds(3_601), .backoff), kind: "http_status")
        #expect(
            try await bench.store.ending(by: began + 3_600_000, of: ["b"])
                == (kind == .sqlite ? ["b": .init()] : [:])
        )
        let failed = try #require(try await bench.store.ending(by: began + 3_600_000, of: ["a"])["a"]).failed
        let statuses = failed.filter { $0.kind == "http_status" }
        #expect(statuses.reduce(0) { $0 + $1.count } == 2 && statuses.map(\.due).min() == began + 20_000)
        #expect(statuses.allSatisfy { $0.made == 1 && $0.spent == 1 })
        #expect(failed.filter { $0.kind == "dns_error" }.map(\.made) == [3])
        // By an earlier moment none is due; one that expires by then is no other's.
        #expect(try await bench.store.ending(by: began + 19_999, of: ["a"])["a"]?.failed.isEmpty ?? true)
        let late = try #require(try await bench.store.ending(by: began + 7_200_000, of: ["a"])["a"])
        #expect(late.expiring.count == 4 && late.failed.isEmpty)
    }

    @Test("A look is bounded: at so many jobs of all routes, and at fewer of each where they are many")
    func bounds() async throws {
        let bench = try await StoreBench(.sqlite)
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

    @Test("A dead job of a list is told with its upstream, and is found by it", arguments: StoreKind.allCases)
    func upstreams(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let dead = try await bench.accept("a")
        let retrying = try await bench.accept("a")
        let fresh = try await bench.accept("a")
        let claims = try await bench.claim("a", 2)
        try await bench.settle(claims[0], .dead(.exhausted), kind: "http_status")
        try await bench.settle(claims[1], .retry(after: .seconds(1), .backoff), kind: "http_status")
        func list(_ upstream: String?) async throws -> [StoredJob] {
            var filter = JobFilter()
            filter.upstream = upstream
            return try await bench.store.jobs(filter, order: .oldestFirst, limit: 10, after: nil).jobs
        }
        #expect(try await list(nil).map(\.record.id) == [dead, retrying, fresh])
        #expect(try await list(nil)[0].failureUpstream == "eu")
        #expect(try await list("eu").map(\.record.id) == [dead, retrying])
        #expect(try await list("us").isEmpty)
        var filter = JobFilter()
        (filter.upstream, filter.states) = ("us", [.dead])
        #expect(try await bench.apply(.retry, filter).matched == 0)
        filter.upstream = "eu"
        #expect(try await bench.apply(.retry, filter).matched == 1)
        #expect(try await bench.state(dead) == .queued)
    }
}
