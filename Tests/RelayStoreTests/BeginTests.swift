import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Attempts are on record before they are sent", .timeLimit(.minutes(5)))
struct BeginTests {
    private func tried(_ bench: StoreBench, _ kind: FailureKind) -> Attempt {
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
        arguments: StoreKind.allCases
    )
    func later(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let id = try await bench.accept()
        let claim = try #require(await bench.claim().first)
        bench.advance(20)
        let next = NextAttempt(claim.token, upstream: "us", earlier: [tried(bench, "http_status")])
        #expect(try await bench.store.begin(next, at: bench.now))
        let running = try await bench.job(id)
        #expect(running.begun == BegunAttempt(upstream: "us", beganAt: bench.now.wall))
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
        arguments: StoreKind.allCases
    )
    func resent(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let id = try await bench.accept()
        let claim = try #require(await bench.claim().first)
        let began = try #require(await bench.job(id).begun)
        bench.advance(20)
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

    @Test("A settlement tells of what is not on record yet", arguments: StoreKind.allCases)
    func settled(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
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

    @Test("A job that went back unsent leaves no attempt", arguments: StoreKind.allCases)
    func back(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
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
        arguments: StoreKind.allCases,
        [true, false]
    )
    func ended(kind: StoreKind, isCancelled: Bool) async throws {
        let bench = try await StoreBench(kind)
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

    @Test("A store of the version before keeps its jobs, and those in flight have no attempt to tell of")
    func migrated() async throws {
        let bench = try await StoreBench(.sqlite)
        let waiting = try await bench.accept()
        let dead = try await bench.accept("r")
        try await bench.settle(try await bench.claim("r")[0], .dead(.rejected), kind: "http_status")
        let flying = try await bench.accept("q")
        _ = try await bench.claim("q")
        try await bench.unfold()
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            let seq = try #require(try database.seq(of: flying))
            var row = try #require(try database.jobRow(seq))
            row.machine.begun = nil
            try database.execute(
                """
                \(StoreBench.fifthLayout)
                UPDATE job SET upstream = NULL, began = NULL, sum = \(row.sum) WHERE seq = \(seq);
                ALTER TABLE job DROP COLUMN upstream; ALTER TABLE job DROP COLUMN began;
                ALTER TABLE job DROP COLUMN status;
                DROP INDEX job_route; DROP INDEX job_failed; DROP TABLE action;
                PRAGMA user_version = 1
                """
            )
        }
        try await bench.reopen()
        #expect(try await bench.job(dead).end == .rejected)
        #expect(try await bench.job(dead).attempts == 1)
        #expect(try await bench.job(flying).state == .queued)
        #expect(try await bench.job(flying).attempts == 0)
        #expect(try await bench.claim().map(\.token.id) == [waiting])
        #expect(try await bench.job(waiting).begun?.upstream == "eu")
    }
}

@Suite("A newer job supersedes", .timeLimit(.minutes(5)))
struct SupersedeTests {
    @Test(
        "A running job that is superseded is over when its attempt is, and only then does the newer one go",
        arguments: StoreKind.allCases,
        [
            .retry(after: .seconds(5), .backoff), .requeued(after: .zero, nil), .held(.operatorHold),
            .dead(.exhausted), .succeeded, .expired,
        ] as [Settlement.Ending]
    )
    func running(kind: StoreKind, ending: Settlement.Ending) async throws {
        let bench = try await StoreBench(kind)
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

    @Test("A crash ends the one that is superseded, and lets the newer one go", arguments: StoreKind.allCases)
    func crash(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
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

    @Test("The newer one also waits for its ordering key", arguments: StoreKind.allCases)
    func ordered(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
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
