import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Jobs wait side by side, whatever form they are kept in", .timeLimit(.minutes(5)))
struct FormTests {
    @Test(
        "Among jobs of both forms the one that was due first is claimed first",
        arguments: StoreKind.all
    )
    func order(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for index in 0..<12 {
            ids.append(try await bench.accept { if index % 3 == 1 { $0.record.labels = ["l"] } })
            if index % 2 == 0 { try await bench.advance(by: 1) }
        }
        try await bench.rearrange(ids[6])
        var claimed: [JobID] = []
        for limit in [1, 2, 3, 4, 5] { claimed += try await bench.claim("hooks", limit).map(\.token.id) }
        #expect(claimed == ids)
    }

    @Test(
        "Of scheduled jobs that are cancelled together the rest wakes at its time",
        arguments: StoreKind.all
    )
    func cancelledTogether(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for minute in 1...40 { ids.append(try await bench.accept { $0.due = .after(.seconds(minute * 60)) }) }
        let filter = JobFilter(ids: Array(ids[..<39]))
        let order = ActionOrder(.cancel, filter, limit: 100, by: .user(7, isBulk: true))
        #expect(try await bench.store.apply(order, at: bench.now).changed == 39)
        try await bench.advance(by: 39 * 60_000)
        #expect(try await bench.claim("hooks", 9).isEmpty)
        try await bench.advance(by: 60_000)
        #expect(try await bench.claim("hooks", 9).map(\.token.id) == [ids[39]])
    }

    @Test("Expiry takes no more at once than it was told to", arguments: StoreKind.all)
    func expiry(kind: StoreKind) async throws {
        let bench = try await kind.open()
        for index in 0..<7 {
            try await bench.accept {
                $0.expiresAfter = .seconds(1)
                if index == 3 { $0.record.labels = ["l"] }
            }
        }
        try await bench.advance(by: 1_000)
        var counts: [Int] = []
        var hasMore = true
        while hasMore {
            let report = try await bench.store.sweep(Retention(), limit: 3, at: bench.now)
            counts.append(report.ended.count)
            hasMore = report.hasMore
        }
        #expect(counts.allSatisfy { $0 <= 3 } && counts.reduce(0, +) == 7)
    }

    @Test(
        "Scheduled ones wake when they are due, whatever waits beside them, and are listed until then",
        arguments: StoreKind.all(.stillClock)
    )
    func scheduled(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for index in 0..<300 {
            ids.append(
                try await bench.accept { $0.due = .after(.milliseconds(100 + (index * 7 % 300) * 10)) }
            )
        }
        var scheduled = JobFilter()
        scheduled.states = [.scheduled]
        for order in [ListOrder.oldestFirst, .newestFirst] {
            let page = try await bench.store.jobs(scheduled, order: order, limit: 500, after: nil)
            #expect(page.jobs.map(\.record.id) == (order == .oldestFirst ? ids : ids.reversed()))
        }
        // The first of all goes by itself, and the next one is known.
        try await bench.apply(.cancel, ids[0])
        var claimed = 0
        while claimed < 299 {
            let batch = try await bench.store.claim("hooks", limit: 100, upstream: "eu", at: bench.now)
            claimed += batch.claims.count
            guard let due = batch.nextDue, batch.claims.isEmpty else { continue }
            #expect(due == bench.now.wall + 10 || claimed == 0 && due == bench.now.wall + 110)
            try await bench.advance(by: due - bench.now.wall)
        }
        #expect(try await bench.counts()[.scheduled] ?? 0 == 0)
        #expect(try await bench.store.jobs(scheduled, order: .oldestFirst, limit: 9, after: nil).jobs.isEmpty)
    }
}
