import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store tells of the jobs that are over soon", .timeLimit(.minutes(5)))
struct EndingTests {
    /// Whether so many end, the first of them then.
    private func expect(
        _ share: EndingJobs.Share?,
        _ count: Int,
        first: Int64,
        _ bench: any StoreUnderTest,
        line: Int = #line
    ) {
        #expect(
            share?.count == count && bench.isAt(share?.first, first),
            "line \(line): \(String(describing: share))"
        )
    }

    private func ending(
        _ bench: any StoreUnderTest,
        by end: Int64,
        of routes: [String] = []
    ) async throws -> [String: EndingJobs] { try await bench.store.ending(by: end, of: routes) }

    @Test(
        "Those that expire by a moment, with the first of them, and those on hold apart",
        arguments: StoreKind.all
    )
    func expiring(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let began = bench.now.wall
        let end = began + 600_000
        #expect(try await ending(bench, by: end) == [:])
        for seconds in [900, 590, 300, 660] as [Int64] {
            try await bench.accept("a") { $0.expiresAfter = .seconds(seconds) }
        }
        try await bench.accept("a")
        let held = try await bench.accept("b") { $0.expiresAfter = .seconds(100) }
        try await bench.apply(.hold, held)
        let over = try await bench.accept("b") { $0.expiresAfter = .seconds(50) }
        try await bench.apply(.cancel, over)
        let found = try await ending(bench, by: end)
        #expect(Set(found.keys) == ["a", "b"])
        expect(found["a"]?.expiring, 2, first: began + 300_000, bench)
        expect(found["b"]?.held, 1, first: began + 100_000, bench)
        #expect(found["a"]?.held.count == 0 && found["b"]?.expiring.count == 0)
        #expect(found.values.allSatisfy { $0.failed.isEmpty })
        // Those that have been tried are among them, and one that is under way has its time.
        let claims = try await bench.claim("a", 3)
        try await bench.settle(claims[1], .retry(after: .seconds(1), .backoff), kind: "dns_error")
        try await bench.settle(claims[2], .retry(after: .seconds(1), .backoff), kind: "dns_error")
        expect(try await ending(bench, by: end)["a"]?.expiring, 2, first: began + 300_000, bench)
    }

    @Test(
        "Those that wait for their time are among them, and those that run are not, whatever was claimed how",
        arguments: StoreKind.all
    )
    func underWay(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let (began, end) = (bench.now.wall, bench.now.wall + 600_000)
        for due in [100, 900] as [Int64] {
            try await bench.accept("later") {
                $0.due = .after(.seconds(due))
                $0.expiresAfter = .seconds(300)
            }
        }
        for labels in [[], ["x=1"]] {
            try await bench.accept {
                $0.expiresAfter = .seconds(300)
                $0.record.labels = labels
            }
        }
        #expect(try await bench.claim().count == 2)
        var born = bench.newJob("born")
        (born.expiresAfter, born.upstream) = (.seconds(300), "eu")
        guard case .running(let token) = try await bench.store.enqueue([born], at: bench.now)[0] else {
            Issue.record("it was not claimed")
            return
        }
        let found = try await ending(bench, by: end)
        #expect(Set(found.keys) == ["later"])
        expect(found["later"]?.expiring, 2, first: began + 300_000, bench)
        // Once it waits again it is one of them.
        let back = Settlement(token, .requeued(after: .zero, nil))
        #expect(try await bench.store.settle([back], at: bench.now) == [.applied(.queued)])
        expect(try await ending(bench, by: end)["born"]?.expiring, 1, first: began + 300_000, bench)
    }

    @Test(
        "One that expires at the very moment is among them, and one that does a millisecond later is not",
        arguments: StoreKind.all(.stillClock)
    )
    func edge(kind: StoreKind) async throws {
        let bench = try await kind.open()
        for milliseconds in [60_000, 60_001] as [Int64] {
            try await bench.accept { $0.expiresAfter = .milliseconds(milliseconds) }
        }
        let found = try await ending(bench, by: bench.now.wall + 60_000)
        #expect(found["hooks"]?.expiring == EndingJobs.Share(1, first: bench.now.wall + 60_000))
    }

    @Test("A clock that was set forward brings no expiry nearer", arguments: StoreKind.all(.wallSteps))
    func stepped(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let began = bench.now.wall
        let held = try await bench.accept("b") { $0.expiresAfter = .seconds(10) }
        try await bench.apply(.hold, held)
        bench.stepWall(by: 3_600_000)
        try await bench.accept("c")
        #expect(try await ending(bench, by: began + 60_000)["b"] == nil)
        expect(
            try await ending(bench, by: began + 3_660_000)["b"]?.held,
            1,
            first: began + 3_610_000,
            bench
        )
    }

    @Test(
        "Those that have failed and are due, by what they failed of and as often",
        arguments: StoreKind.all
    )
    func failed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let began = bench.now.wall
        for _ in 0..<4 { try await bench.accept("a") { $0.expiresAfter = .seconds(7_100) } }
        let claims = try await bench.claim("a")
        try await bench.settle(claims[0], .retry(after: .seconds(30), .backoff), kind: "http_status")
        try await bench.settle(claims[1], .retry(after: .seconds(20), .backoff), kind: "http_status")
        try await bench.settle(
            claims[2],
            .retry(after: .seconds(30), .backoff),
            attempts: 3,
            kind: "dns_error"
        )
        try await bench.settle(claims[3], .retry(after: .seconds(3_700), .backoff), kind: "http_status")
        #expect(try await ending(bench, by: began + 3_600_000, of: ["b"]) == [:])
        let failed = try #require(try await ending(bench, by: began + 3_600_000, of: ["a", "b"])["a"]).failed
        let statuses = failed.filter { $0.kind == "http_status" }
        #expect(statuses.reduce(0) { $0 + $1.count } == 2)
        #expect(bench.isAt(statuses.map(\.due).min(), began + 20_000))
        #expect(statuses.allSatisfy { $0.made == 1 && $0.spent == 1 })
        #expect(failed.filter { $0.kind == "dns_error" }.map(\.made) == [3])
        // By an earlier moment none is due; one that expires by then is no other's.
        let early = try await ending(bench, by: began + 20_000 - bench.tick, of: ["a"])
        #expect(early["a"]?.failed.isEmpty ?? true)
        let late = try #require(try await ending(bench, by: began + 7_200_000, of: ["a"])["a"])
        #expect(late.expiring.count == 4 && late.failed.isEmpty)
    }

    @Test("A dead job of a list is told with its upstream, and is found by it", arguments: StoreKind.all)
    func upstreams(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
