import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job is told whole, as much of it as is wanted", .timeLimit(.minutes(5)))
struct WholeTests {
    private let answer = StoredAnswer(status: 503, fields: HeaderFields(), body: .bytes([7]))

    private func whole(
        _ bench: any StoreUnderTest,
        _ id: JobID,
        attempts: Int = 2,
        hasBodies: Bool = false
    ) async throws -> WholeJob {
        let extent = WholeJob.Extent(attempts: attempts, hasBodies: hasBodies)
        return try #require(try await bench.store.whole(id, extent))
    }

    @Test(
        "The last attempts in order, bodies only for who wants them, and the answer once it is over",
        arguments: StoreKind.all
    )
    func extent(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept(body: "request")
        let fresh = try await whole(bench, id, hasBodies: true)
        #expect(fresh.attempts.isEmpty && fresh.answer == nil)
        #expect(fresh.body == .bytes(Array("request".utf8)))
        try await bench.settle(
            try await bench.claim()[0],
            .retry(after: .zero, .backoff),
            attempts: 3,
            answer: answer,
            kind: "http_status"
        )
        let waiting = try await whole(bench, id)
        #expect(waiting.job.state == .retrying && waiting.job.attempts == 3)
        #expect(waiting.attempts.map(\.number) == [2, 3])
        #expect(waiting.answer == nil && waiting.body == nil)
        let bare = try await whole(bench, id, attempts: 0, hasBodies: true)
        #expect(bare.attempts.isEmpty && bare.answer?.status == 503 && bare.answer?.body == .bytes([7]))
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted), attempts: 1)
        let over = try await whole(bench, id, attempts: 9)
        #expect(over.attempts.map(\.number) == [1, 2, 3, 4])
        #expect(over.job.state == .dead && over.answer?.status == 503 && over.body == nil)
        #expect(!over.hasDamagedBody && !over.hasDamagedAnswer)
    }

    @Test("Nothing is told of a job that is not there", arguments: StoreKind.all)
    func unknown(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let gone = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .succeeded, answer: answer)
        try await bench.apply(.drop, gone)
        for id in [gone, bench.id()] {
            #expect(try await bench.store.job(id) == nil)
            #expect(try await bench.store.whole(id, WholeJob.Extent(attempts: 9, hasBodies: true)) == nil)
            #expect(try await bench.store.body(of: id) == nil)
            #expect(try await bench.store.answer(of: id) == nil)
            #expect(try await bench.store.attempts(of: id, after: 0, limit: 9).isEmpty)
            #expect(try await bench.apply(.retry, id).matched == 0)
        }
        let unknown = ClaimToken(id: bench.id(), position: 1, number: 1)
        #expect(
            try await !bench.store.begin(NextAttempt(unknown, upstream: "eu", earlier: []), at: bench.now)
        )
        #expect(try await bench.store.settle([Settlement(unknown, .succeeded)], at: bench.now) == [.stale])
    }

    @Test(
        "The counts are the same after the next start as before",
        arguments: StoreKind.all([.survives, .stillClock])
    )
    func counters(kind: StoreKind) async throws {
        let bench = try await kind.open()
        for index in 0..<40 {
            let id = try await bench.accept(index % 2 == 0 ? "a" : "b") {
                if index % 4 == 0 { $0.due = .after(.seconds(7_200)) }
                if index % 5 == 0 { $0.record.labels = ["l"] }
                if index % 7 == 0 { $0.record.orderingKey = "k" }
            }
            if index % 6 == 0 { try await bench.apply(.hold, id) }
            if index % 9 == 0 { try await bench.apply(.cancel, id) }
            try await bench.advance(by: 60_000)
        }
        let endings: [Settlement.Ending] = [
            .succeeded, .dead(.exhausted), .retry(after: .seconds(3_600), .backoff), .held(.credentials),
            .expired,
        ]
        for (claim, ending) in zip(try await bench.claim("b", 5), endings) {
            try await bench.settle(claim, ending, kind: "http_status")
        }
        let before = try await bench.store.counters(at: bench.now, withDue: true)
        #expect(before.counts.count >= 8 && before.due.count == 2 && before.next.count == 1)
        let (failures, users) = try await (
            bench.store.failures(of: nil, at: bench.now), bench.store.unfinishedByUser()
        )
        try await bench.reopen(after: 0)
        let after = try await bench.store.counters(at: bench.now, withDue: true)
        #expect(after.counts.filter { $0.value > 0 } == before.counts.filter { $0.value > 0 })
        #expect(after.ages == before.ages)
        #expect(after.due == before.due)
        #expect(after.next == before.next)
        #expect(Set(after.oldest.keys) == Set(before.oldest.keys))
        #expect(try await bench.store.failures(of: nil, at: bench.now) == failures)
        #expect(try await bench.store.unfinishedByUser() == users)
    }
}
