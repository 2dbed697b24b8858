import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Nobody has to ask for the end of a job that ended by itself", .timeLimit(.minutes(5)))
struct EndedTests {
    @Test(
        "A job that ends when the store is opened is told once, one that goes on is not",
        arguments: StoreKind.all(.survives)
    )
    func opening(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let poison = try await bench.acceptOfUser()
        for _ in 0..<2 {
            #expect(try await bench.claim().count == 1)
            try await bench.reopen()
        }
        let unknown = try await bench.acceptOfUser { $0.record.mayRepeat = false }
        let cancelled = try await bench.acceptOfUser()
        _ = try await bench.acceptOfUser()
        #expect(try await bench.claim().count == 4)
        try await bench.apply(.cancel, cancelled)
        #expect(try await bench.ended().isEmpty)
        for _ in 0..<2 {
            try await bench.reopen()
            #expect(
                try await bench.ended() == [
                    bench.end(poison, .dead, .poison, after: 3),
                    bench.end(unknown, .dead, .outcomeUnknown, after: 1),
                    bench.end(cancelled, .cancelled, .cancelled, after: 1),
                ]
            )
        }
    }

    @Test("A job whose place a newer one takes is told", arguments: StoreKind.all)
    func superseded(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let first = try await bench.acceptOfUser { $0.record.supersedeKey = "s" }
        let second = try await bench.acceptOfUser { $0.record.supersedeKey = "s" }
        _ = try await bench.acceptOfUser { $0.record.supersedeKey = "s" }
        #expect(
            try await bench.ended() == [
                bench.end(first, .cancelled, .superseded), bench.end(second, .cancelled, .superseded),
            ]
        )
    }

    @Test("An end that a call brings about is in its answer, and not told", arguments: StoreKind.all)
    func asked(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let cancelled = try await bench.acceptOfUser()
        #expect(
            try await bench.apply(.cancel, cancelled, by: 9).changes.map(\.text) == [
                bench.end(cancelled, .cancelled, .cancelled, .action(.cancel, by: 9))
            ]
        )
        _ = try await bench.acceptOfUser()
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        let late = try await bench.acceptOfUser { $0.expiresAfter = .seconds(1) }
        try await bench.advance(by: 1_000)
        let report = try await bench.store.sweep(Retention(), limit: 9, at: bench.now)
        #expect(report.ended.map(\.text) == [bench.end(late, .expired, .expired)])
        #expect(try await bench.ended().isEmpty)
    }
}
