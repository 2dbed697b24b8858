import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job for which there is a permit is claimed with its acceptance", .timeLimit(.minutes(5)))
struct BirthTests {
    /// Accepts a job with a permit; nil when it was not claimed.
    private func submit(
        _ bench: any StoreUnderTest,
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> (id: JobID, claim: Claim?) {
        let job = bench.newJob { job in
            job.upstream = "eu"
            change(&job)
        }
        let answer = try await bench.store.enqueue([job], at: bench.now)[0]
        guard case .running(let token) = answer else {
            #expect(answer == .accepted)
            return (job.record.id, nil)
        }
        return (job.record.id, Claim(token, of: job, to: "eu", at: bench.now))
    }

    @Test(
        "It runs, its attempt stands on record, and nobody else can claim it",
        arguments: StoreKind.all
    )
    func runs(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let (id, found) = try await submit(bench) { $0.expiresAfter = .seconds(60) }
        let claim = try #require(found)
        let job = try await bench.job(id)
        #expect(job.state == .running && (bench.tick > 1 || job.text == claim.job.text))
        #expect(job.begun?.upstream == "eu" && bench.isAt(job.begun?.beganAt, bench.now.wall))
        #expect(claim.job.begun?.upstream == "eu" && claim.attemptNumber == 1)
        #expect(try await bench.claim().isEmpty)
        #expect(try await bench.ready().isEmpty)
        #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded))
        #expect(try await bench.settle(claim, .succeeded) == .stale)
        #expect(try await bench.job(id).attempts == 1)
    }

    @Test(
        "A crash leaves its attempt on record as cut short",
        arguments: StoreKind.all(.survives),
        [true, false]
    )
    func crashes(kind: StoreKind, mayRepeat: Bool) async throws {
        let bench = try await kind.open()
        let (id, _) = try await submit(bench) { $0.record.mayRepeat = mayRepeat }
        let began = bench.now.wall
        try await bench.reopen()
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.upstream) == ["eu"] && attempts.map(\.failure?.kind) == [.interrupted])
        #expect(bench.isAt(attempts.first?.beganAt, began))
        #expect(try await bench.job(id).state == (mayRepeat ? .retrying : .dead))
        #expect(try await bench.claim().count == (mayRepeat ? 1 : 0))
    }

    /// Why a job waits all the same.
    enum Obstacle: CaseIterable, Sendable {
        case waiting, lessUrgent, woken, ordering, superseding, delayed, expired
    }

    @Test(
        "It waits like any other where a claim would not take it, or another one first",
        arguments: StoreKind.all,
        Obstacle.allCases
    )
    func waits(kind: StoreKind, obstacle: Obstacle) async throws {
        let bench = try await kind.open()
        // The store knows the route, and that nothing waits.
        _ = try await bench.claim()
        switch obstacle {
        case .waiting: try await bench.accept()
        case .lessUrgent: try await bench.accept { $0.record.priority = 7 }
        case .woken:
            try await bench.accept { $0.due = .after(.seconds(5)) }
            try await bench.advance(by: 5_000)
        case .ordering: _ = try #require(try await submit(bench) { $0.record.orderingKey = "k" }.claim)
        case .superseding: _ = try #require(try await submit(bench) { $0.record.supersedeKey = "k" }.claim)
        case .delayed, .expired: break
        }
        let (id, claim) = try await submit(bench) { job in
            switch obstacle {
            case .waiting, .lessUrgent, .woken: break
            case .ordering: job.record.orderingKey = "k"
            case .superseding: job.record.supersedeKey = "k"
            case .delayed: job.due = .after(.seconds(1))
            case .expired: job.expiresAfter = .zero
            }
        }
        #expect(claim == nil)
        let job = try await bench.job(id)
        #expect(job.state == (obstacle == .delayed ? .scheduled : .queued) && job.begun == nil)
    }

    @Test(
        "A job that waits for later, on another route or no longer is in nobody's way",
        arguments: StoreKind.all
    )
    func free(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.accept("other")
        try await bench.accept { $0.due = .after(.seconds(5)) }
        let gone = try await bench.accept()
        #expect(try await submit(bench).claim == nil)
        try await bench.apply(.cancel, gone)
        let next = try #require(try await bench.claim().first)
        try await bench.settle(next, .retry(after: .seconds(5), .backoff))
        _ = try #require(try await submit(bench).claim)
        try await bench.advance(by: 5_000)
        #expect(try await submit(bench).claim == nil)
    }

    @Test(
        "Nobody waits for it: it waits for a claim where its caller may come again, and is not there otherwise",
        arguments: StoreKind.all,
        [true, false]
    )
    func unawaited(kind: StoreKind, isKeyed: Bool) async throws {
        let bench = try await kind.open()
        let wait = AcceptanceWait()
        #expect(wait.giveUp())
        let job = bench.newJob {
            $0.upstream = "eu"
            $0.wait = wait
            if isKeyed {
                $0.idempotency = NewJob.Idempotency(user: 1, key: "a", fingerprint: [], window: .seconds(60))
            }
        }
        let answer = try await bench.store.enqueue([job], at: bench.now)
        _ = try await bench.store.settle([], at: bench.now)
        if isKeyed {
            #expect(answer == [.accepted])
            #expect(try await bench.job(job.record.id).attempts == 0)
            #expect(try await bench.claim().map(\.token.id) == [job.record.id])
        } else {
            #expect(try await bench.store.job(job.record.id)?.state != .running)
            #expect(try await bench.claim().isEmpty)
        }
    }
}
