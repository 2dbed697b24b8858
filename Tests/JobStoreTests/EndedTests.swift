import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Nobody has to ask for the end of a job that ended by itself", .timeLimit(.minutes(5)))
struct EndedTests {
    private func ended(
        _ id: JobID,
        _ state: JobState,
        _ end: EndReason,
        after attempts: Int = 0,
        _ cause: JobChange.Cause = .store
    ) -> String {
        JobChange(
            id: id,
            route: "hooks",
            user: 7,
            state: state,
            end: end,
            attemptCount: attempts,
            cause: cause
        ).text
    }

    private func accept(
        _ bench: any StoreUnderTest,
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> JobID {
        try await bench.accept {
            $0.record.submitter = JobRecord.Submitter(user: 7, unit: nil)
            change(&$0)
        }
    }

    @Test(
        "A job that ends when the store is opened is told once, one that goes on is not",
        arguments: StoreKind.all(.survives)
    )
    func opening(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let poison = try await accept(bench)
        for _ in 0..<2 {
            #expect(try await bench.claim().count == 1)
            try await bench.reopen()
        }
        let unknown = try await accept(bench) { $0.record.mayRepeat = false }
        let cancelled = try await accept(bench)
        _ = try await accept(bench)
        #expect(try await bench.claim().count == 4)
        try await bench.apply(.cancel, cancelled)
        #expect(try await bench.ended().isEmpty)
        for _ in 0..<2 {
            try await bench.reopen()
            #expect(
                try await bench.ended() == [
                    ended(poison, .dead, .poison, after: 3), ended(unknown, .dead, .outcomeUnknown, after: 1),
                    ended(cancelled, .cancelled, .cancelled, after: 1),
                ]
            )
        }
    }

    @Test("A job whose place a newer one takes is told", arguments: StoreKind.all)
    func superseded(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let first = try await accept(bench) { $0.record.supersedeKey = "s" }
        let second = try await accept(bench) { $0.record.supersedeKey = "s" }
        _ = try await accept(bench) { $0.record.supersedeKey = "s" }
        #expect(
            try await bench.ended() == [
                ended(first, .cancelled, .superseded), ended(second, .cancelled, .superseded),
            ]
        )
    }

    @Test("An end that a call brings about is in its answer, and not told", arguments: StoreKind.all)
    func asked(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let cancelled = try await accept(bench)
        #expect(
            try await bench.apply(.cancel, cancelled, by: 9).changes.map(\.text) == [
                ended(cancelled, .cancelled, .cancelled, .action(.cancel, by: 9))
            ]
        )
        _ = try await accept(bench)
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        let late = try await accept(bench) { $0.expiresAfter = .seconds(1) }
        try await bench.advance(by: 1_000)
        let report = try await bench.store.sweep(Retention(), limit: 9, at: bench.now)
        #expect(report.ended.map(\.text) == [ended(late, .expired, .expired)])
        #expect(try await bench.ended().isEmpty)
    }
}
