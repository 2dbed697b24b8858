import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A newer job supersedes", .timeLimit(.minutes(5)))
struct SupersedeTests {
    @Test(
        "A running job that is superseded is over when its attempt is, and only then does the newer one go",
        arguments: StoreKind.all,
        [
            .retry(after: .seconds(5), .backoff), .requeued(after: .zero, nil), .held(.operatorHold),
            .dead(.exhausted), .succeeded, .expired,
        ] as [Settlement.Ending]
    )
    func running(kind: StoreKind, ending: Settlement.Ending) async throws {
        let bench = try await kind.open()
        let old = try await bench.accept { $0.record.supersedeKey = "k" }
        let other = try await bench.accept { $0.record.supersedeKey = "other" }
        let claims = try await bench.claim()
        let claim = try #require(claims.first { $0.token.id == old })
        #expect(claims.map(\.token.id) == [old, other])
        let between = try await bench.accept { $0.record.supersedeKey = "k" }
        let new = try await bench.accept { $0.record.supersedeKey = "k" }
        #expect(try await bench.job(between).end == .superseded)
        #expect(try await bench.claim().isEmpty)
        #expect(try await bench.job(new).state == .queued)
        #expect(try await bench.job(new).reason == .ordering)
        #expect(try await bench.job(old).isSuperseded)
        #expect(try await bench.job(old).state == .running)
        let answer = try await bench.settle(claim, ending)
        #expect(
            answer == (ending == .succeeded ? .applied(.succeeded) : .applied(.cancelled, .superseded))
        )
        #expect(try await bench.claim().map(\.token.id) == [new])
    }

    @Test(
        "A crash ends the one that is superseded, and lets the newer one go",
        arguments: StoreKind.all(.survives)
    )
    func crash(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let old = try await bench.accept { $0.record.supersedeKey = "k" }
        #expect(try await bench.claim().count == 1)
        let new = try await bench.accept { $0.record.supersedeKey = "k" }
        #expect(try await bench.claim().isEmpty)
        try await bench.reopen()
        #expect(try await bench.job(old).state == .cancelled)
        #expect(try await bench.job(old).end == .superseded)
        let told = JobChange(
            id: old,
            route: "hooks",
            user: nil,
            state: .cancelled,
            end: .superseded,
            attemptCount: 1
        )
        #expect(try await bench.ended() == [told.text])
        #expect(try await bench.claim().map(\.token.id) == [new])
    }

    @Test("The newer one also waits for its ordering key", arguments: StoreKind.all)
    func ordered(kind: StoreKind) async throws {
        let bench = try await kind.open()
        _ = try await bench.accept { $0.record.supersedeKey = "k" }
        let first = try await bench.accept { $0.record.orderingKey = "o" }
        let claims = try await bench.claim()
        #expect(claims.count == 2)
        let new = try await bench.accept {
            $0.record.supersedeKey = "k"
            $0.record.orderingKey = "o"
        }
        for claim in claims {
            #expect(try await bench.claim().isEmpty)
            try await bench.settle(claim, .succeeded)
        }
        #expect(try await bench.claim().map(\.token.id) == [new])
        #expect(try await bench.job(first).state == .succeeded)
    }
}
