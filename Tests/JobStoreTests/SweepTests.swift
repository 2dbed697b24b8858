import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A sweep goes in small steps until nothing is due", .timeLimit(.minutes(5)))
struct SweepTests {
    /// How jobs come to be over.
    enum End: CaseIterable, Sendable {
        case succeeded, dead, cancelled, expired
    }

    private func finish(_ bench: any StoreUnderTest, _ count: Int, _ end: End) async throws {
        for _ in 0..<count {
            let id = try await bench.accept { if end == .expired { $0.expiresAfter = .seconds(1) } }
            switch end {
            case .succeeded: try await bench.settle(try await bench.claim()[0], .succeeded)
            case .dead: try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
            case .cancelled: try await bench.apply(.cancel, id)
            case .expired: break
            }
        }
        guard end == .expired else { return }
        try await bench.advance(by: 1_000)
        while try await bench.sweep().hasMore {}
    }

    @Test(
        "Jobs that are over lose their bodies, and go, so many at once and no more",
        arguments: StoreKind.all(.removesSingly),
        End.allCases
    )
    func steps(kind: StoreKind, end: End) async throws {
        let bench = try await kind.open()
        try await finish(bench, 7, end)
        try await bench.advance(by: 10_000)
        var retention = Retention()
        retention.bodies = .seconds(10)
        func sweep(_ value: KeyPath<SweepReport, Int>) async throws -> [Int] {
            var counts: [Int] = []
            var hasMore = true
            while hasMore, counts.count < 50 {
                let report = try await bench.sweep(retention, limit: 3)
                counts.append(report[keyPath: value])
                hasMore = report.hasMore
            }
            return counts
        }
        let expunged = try await sweep(\.expunged)
        #expect(expunged.reduce(0, +) == 7 && expunged.allSatisfy { $0 <= 3 }, "\(expunged)")
        #expect(try await bench.list().allSatisfy { !$0.hasBody && $0.state.isTerminal })
        #expect(try await bench.list().count == 7)
        (retention.dead, retention.succeeded) = (.seconds(10), .seconds(10))
        let removed = try await sweep(\.removed)
        #expect(removed.reduce(0, +) == 7 && removed.allSatisfy { $0 <= 3 }, "\(removed)")
        #expect(try await bench.list().isEmpty)
        #expect(try await bench.counts().values.allSatisfy { $0 == 0 })
        let rest = try await bench.sweep(retention, limit: 3)
        #expect(!rest.hasMore && rest.removed == 0 && rest.expunged == 0 && rest.ended.isEmpty)
    }

    @Test("A job that is not over is left alone, however old it is", arguments: StoreKind.all)
    func unfinished(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for _ in 0..<4 { ids.append(try await bench.accept()) }
        let claims = try await bench.claim("hooks", 3)
        try await bench.settle(claims[0], .retry(after: .seconds(60), .backoff))
        try await bench.settle(claims[1], .held(.credentials))
        try await bench.advance(by: 400 * 24 * 3_600_000)
        var retention = Retention()
        (retention.dead, retention.succeeded, retention.bodies) = (.zero, .zero, .zero)
        while try await bench.sweep(retention).hasMore {}
        #expect(try await bench.list().map(\.record.id) == ids)
        #expect(try await bench.list().map(\.state) == [.retrying, .held, .running, .queued])
        #expect(try await bench.list().allSatisfy { $0.hasBody })
    }

    @Test("A key is known for its time though its job is swept", arguments: StoreKind.all)
    func keys(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func keyed() -> NewJob {
            bench.newJob {
                $0.idempotency = NewJob.Idempotency(
                    user: 1,
                    key: "k",
                    fingerprint: [1],
                    window: .seconds(3_600)
                )
            }
        }
        let first = keyed()
        #expect(try await bench.store.enqueue([first], at: bench.now) == [.accepted])
        try await bench.settle(try await bench.claim()[0], .succeeded)
        var retention = Retention()
        retention.succeeded = .zero
        while try await bench.sweep(retention).hasMore {}
        #expect(try await bench.store.job(first.record.id) == nil)
        #expect(try await bench.store.enqueue([keyed()], at: bench.now) == [.duplicate(first.record.id)])
        try await bench.advance(by: 3_600_000)
        while try await bench.sweep(retention).hasMore {}
        #expect(try await bench.store.enqueue([keyed()], at: bench.now) == [.accepted])
    }
}
