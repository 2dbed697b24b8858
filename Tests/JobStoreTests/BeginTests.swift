import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Attempts are on record before they are sent", .timeLimit(.minutes(5)))
struct BeginTests {
    private func tried(_ bench: any StoreUnderTest, _ kind: FailureKind) -> Attempt {
        var record = Attempt(
            number: 1,
            upstream: "eu",
            beganAt: bench.now.wall,
            duration: .milliseconds(7)
        )
        record.failure = Failure(kind, sent: .answered, "no")
        record.rule = "other"
        return record
    }

    @Test(
        "A later attempt of a run outlives a crash, and so does what came of the ones before",
        arguments: StoreKind.all(.survives)
    )
    func later(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let claim = try #require(await bench.claim().first)
        try await bench.advance(by: 20)
        let next = NextAttempt(claim.token, upstream: "us", earlier: [tried(bench, "http_status")])
        #expect(try await bench.store.begin(next, at: bench.now))
        let running = try await bench.job(id)
        #expect(running.begun?.upstream == "us" && running.begun?.isResent == false)
        #expect(bench.isAt(running.begun?.beganAt, bench.now.wall))
        #expect(running.attempts == 1 && running.failureKind == "http_status" && running.state == .running)
        try await bench.reopen()
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.upstream) == ["eu", "us"])
        #expect(attempts.map(\.failure?.kind) == ["http_status", .interrupted])
        #expect(attempts[0].rule == "other" && attempts[0].duration == .milliseconds(7))
        #expect(try await bench.claim().first?.attemptNumber == 3)
    }

    @Test(
        "An attempt that goes out once more has that on record after a crash",
        arguments: StoreKind.all(.survives)
    )
    func resent(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let claim = try #require(await bench.claim().first)
        let began = try #require(await bench.job(id).begun)
        try await bench.advance(by: 20)
        #expect(try await bench.store.begin(NextAttempt(resending: claim.token), at: bench.now))
        let running = try await bench.job(id)
        #expect(running.attempts == 0 && running.state == .running)
        #expect(
            running.begun == BegunAttempt(upstream: began.upstream, beganAt: began.beganAt, isResent: true)
        )
        try await bench.reopen()
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(
            attempts.map(\.failure?.kind) == [.interrupted] && attempts.map(\.exchange?.wasResent) == [true]
        )
        #expect(try await !bench.store.begin(NextAttempt(resending: claim.token), at: bench.now))
        // The next attempt says nothing of it.
        #expect(try await bench.claim().first?.job.begun?.isResent == false)
    }

    @Test("A word about a cancelled job's operation is its last attempt, once", arguments: StoreKind.all)
    func noted(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var told = Attempt(number: 1, upstream: "eu", beganAt: bench.now.wall)
        told.lookUp = .told
        // Of one that goes on, or is over otherwise, nothing is kept.
        #expect(try await !bench.store.note(told, of: id, at: bench.now))
        try await bench.apply(.cancel, id)
        let before = try await bench.job(id)
        #expect(try await bench.store.note(told, of: id, at: bench.now))
        #expect(try await !bench.store.note(told, of: id, at: bench.now))
        let after = try await bench.job(id)
        #expect(after.state == .cancelled && after.attempts == 1 && after.spentAttempts == 0)
        #expect(after.version == before.version + 1)
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.lookUp) == [.told] && attempts.map(\.number) == [1])
    }

    @Test("A settlement tells of what is not on record yet", arguments: StoreKind.all)
    func settled(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let claim = try #require(await bench.claim().first)
        let next = NextAttempt(claim.token, upstream: "us", earlier: [tried(bench, "http_status")])
        #expect(try await bench.store.begin(next, at: bench.now))
        try await bench.settle(claim, .succeeded, attempts: 1)
        let job = try await bench.job(id)
        #expect(job.attempts == 2 && job.begun == nil)
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.failure?.kind) == ["http_status", nil])
        #expect(try await !bench.store.begin(next, at: bench.now))
    }

    @Test("A job that went back unsent leaves no attempt", arguments: StoreKind.all(.survives))
    func back(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        try await bench.settle(
            try await bench.claim()[0],
            .requeued(after: .zero, .credentials),
            attempts: 0
        )
        try await bench.reopen()
        #expect(try await bench.job(id).attempts == 0)
        #expect(try await bench.job(id).begun == nil)
        #expect(try await bench.store.attempts(of: id, after: 0, limit: 10).isEmpty)
    }

    @Test(
        "A job that is to be cancelled or is superseded gets no other attempt",
        arguments: StoreKind.all,
        [true, false]
    )
    func ended(kind: StoreKind, isCancelled: Bool) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept { $0.record.supersedeKey = "k" }
        let claim = try #require(await bench.claim().first)
        if isCancelled {
            try await bench.apply(.cancel, id)
        } else {
            try await bench.accept { $0.record.supersedeKey = "k" }
        }
        let next = NextAttempt(claim.token, upstream: "us", earlier: [tried(bench, "http_status")])
        #expect(try await !bench.store.begin(next, at: bench.now))
        #expect(try await bench.job(id).attempts == 0)
        #expect(
            try await bench.settle(claim, .requeued(after: .zero, nil), attempts: 1)
                == .applied(.cancelled, isCancelled ? .cancelled : .superseded)
        )
    }
}
