import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Jobs of one ordering key go one at a time and in order", .timeLimit(.minutes(5)))
struct OrderingTests {
    private func keyed(_ bench: any StoreUnderTest, _ count: Int) async throws -> [JobID] {
        var ids: [JobID] = []
        for _ in 0..<count { ids.append(try await bench.accept { $0.record.orderingKey = "k" }) }
        return ids
    }

    @Test("The next may go when the one before is over, in whatever way", arguments: StoreKind.all(.survives))
    func order(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let ids = try await keyed(bench, 5)
        let other = try await bench.accept { $0.record.orderingKey = "l" }
        #expect(try await bench.job(ids[1]).reason == .ordering)
        #expect(try await bench.claim().map(\.token.id) == [ids[0], other])
        try await bench.reopen()
        let endings: [Settlement.Ending] = [.succeeded, .dead(.exhausted), .cancelled, .expired]
        for (index, ending) in endings.enumerated() {
            let claims = try await bench.claim().filter { $0.token.id != other }
            #expect(claims.map(\.token.id) == [ids[index]])
            try await bench.settle(claims[0], ending)
        }
        #expect(try await bench.claim().map(\.token.id) == [ids[4]])
    }

    @Test(
        "A key orders the jobs of its user alone, and a route in order those of all",
        arguments: StoreKind.all(.survives)
    )
    func users(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func submit(_ key: String, _ user: UInt32?) async throws -> JobID {
            try await bench.accept {
                $0.record.orderingKey = key
                $0.record.submitter = user.map { JobRecord.Submitter(user: $0, unit: nil) }
            }
        }
        let (hers, her2) = (try await submit("k", 1000), try await submit("k", 1000))
        let (his, nobodys) = (try await submit("k", 1001), try await submit("k", nil))
        let (first, second) = (
            try await submit(JobRecord.routeOrder, 1000), try await submit(JobRecord.routeOrder, 1001)
        )
        let claims = try await bench.claim()
        // Nobody's turn comes first, and each user's as its number says.
        #expect(claims.map(\.token.id) == [nobodys, hers, his, first])
        try await bench.reopen()
        for id in [her2, second] { #expect(try await bench.job(id).reason == .ordering) }
        #expect(try await bench.job(her2).record.orderingKey == "k")
    }

    @Test("One that is held, delayed or retried keeps the others back", arguments: StoreKind.all)
    func blocked(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let first = try await bench.accept {
            $0.record.orderingKey = "k"
            $0.due = .after(.seconds(10))
        }
        let second = try await bench.accept { $0.record.orderingKey = "k" }
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 10_000)
        try await bench.settle(try await bench.claim()[0], .retry(after: .seconds(10), .backoff))
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 10_000)
        try await bench.settle(try await bench.claim()[0], .held(.credentials))
        #expect(try await bench.claim().isEmpty)
        try await bench.apply(.retry, second)
        #expect(try await bench.claim().isEmpty)
        try await bench.apply(.cancel, first)
        #expect(try await bench.claim().map(\.token.id) == [second])
    }

    @Test("One taken out of the middle leaves the rest in order", arguments: StoreKind.all)
    func middle(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let ids = try await keyed(bench, 5)
        try await bench.apply(.cancel, ids[2])
        try await bench.apply(.drop, ids[4])
        try await bench.apply(.hold, ids[1])
        try await bench.apply(.release, ids[1])
        #expect(try await bench.job(ids[1]).reason == .ordering)
        var seen: [JobID] = []
        while let claim = try await bench.claim().first {
            seen.append(claim.token.id)
            try await bench.settle(claim, .succeeded)
        }
        #expect(seen == [ids[0], ids[1], ids[3]])
        // The key is free again.
        let next = try await bench.accept { $0.record.orderingKey = "k" }
        #expect(try await bench.claim().map(\.token.id) == [next])
    }

    @Test("A replayed job takes its turn behind those that wait", arguments: StoreKind.all)
    func replay(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let ids = try await keyed(bench, 2)
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        try await bench.apply(.retry, ids[0])
        #expect(try await bench.job(ids[0]).reason == .ordering)
        let claim = try await bench.claim()
        #expect(claim.map(\.token.id) == [ids[1]])
        try await bench.settle(claim[0], .succeeded)
        #expect(try await bench.claim().map(\.token.id) == [ids[0]])
    }
}
