import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Many that ask at once are answered as if one came after the other", .timeLimit(.minutes(5)))
struct ManyAtOnceTests {
    /// The answers of as many calls at once as there are values, in the order in which they came.
    private func answers<Value: Sendable, Answer: Sendable>(
        _ values: [Value],
        _ call: @escaping @Sendable (Value) async throws -> Answer
    ) async throws -> [Answer] {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for value in values { group.addTask { try await call(value) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func enqueue(_ jobs: [NewJob], _ bench: any StoreUnderTest) async throws -> [EnqueueResult] {
        let (store, now) = (bench.store, bench.now)
        return try await answers(jobs) { try await store.enqueue([$0], at: now)[0] }
    }

    @Test("No job is claimed twice, and none is left over", arguments: StoreKind.all)
    func claims(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let jobs = (0..<60).map { index in
            bench.newJob {
                $0.record.submitter = JobRecord.Submitter(user: UInt32(index % 3), unit: nil)
                if index % 4 == 0 { $0.record.labels = ["l"] }
            }
        }
        #expect(try await enqueue(jobs, bench).allSatisfy { $0 == .accepted })
        let (store, now) = (bench.store, bench.now)
        var claimed: [JobID] = []
        // A call may miss what another one is about to claim or has in hand: the next one finds it.
        for _ in 0..<10 where claimed.count < jobs.count {
            claimed += try await answers(Array(0..<16)) { _ in
                try await store.claim("hooks", limit: 5, upstream: "eu", at: now).claims.map(\.token.id)
            }
            .flatMap(\.self)
        }
        #expect(claimed.count == jobs.count && Set(claimed) == Set(jobs.map(\.record.id)))
    }

    @Test("A claim is settled once, and its attempt is on record once", arguments: StoreKind.all)
    func settlements(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let token = try await bench.claim()[0].token
        let (store, now) = (bench.store, bench.now)
        let attempt = Attempt(number: 1, upstream: "eu", beganAt: now.wall)
        let endings: [Settlement.Ending] = [
            .succeeded, .dead(.rejected), .retry(after: .seconds(60), .backoff),
        ]
        let found = try await answers((0..<12).map { endings[$0 % 3] }) { ending in
            try await store.settle([Settlement(token, ending, attempts: [attempt])], at: now)[0]
        }
        #expect(found.count { $0 == .stale } == 11)
        let job = try await bench.job(id)
        #expect(found.contains(.applied(job.state, job.end)) && job.attempts == 1)
        #expect(try await bench.store.attempts(of: id, after: 0, limit: 20).count == 1)
    }

    @Test(
        "Jobs of one ordering key go one at a time and in the order of their positions",
        arguments: StoreKind.all
    )
    func ordered(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let jobs = (0..<24).map { _ in bench.newJob { $0.record.orderingKey = "k" } }
        #expect(try await enqueue(jobs, bench).allSatisfy { $0 == .accepted })
        let (store, now) = (bench.store, bench.now)
        var last: Int64 = 0
        for _ in jobs {
            let claims = try await answers(Array(0..<4)) { _ in
                try await store.claim("hooks", limit: 3, upstream: "eu", at: now).claims
            }
            .flatMap(\.self)
            #expect(claims.count == 1)
            let claim = try #require(claims.first)
            #expect(claim.token.position > last)
            last = claim.token.position
            try await bench.settle(claim, .succeeded)
        }
        #expect(try await bench.counts().filter { $0.value > 0 } == [.succeeded: 24])
    }

    @Test("Of jobs with one supersede key one is left, the last that was accepted", arguments: StoreKind.all)
    func superseded(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let jobs = (0..<24).map { _ in bench.newJob { $0.record.supersedeKey = "s" } }
        #expect(try await enqueue(jobs, bench).allSatisfy { $0 == .accepted })
        let all = try await bench.list()
        #expect(all.map(\.state) == Array(repeating: .cancelled, count: 23) + [.queued])
        #expect(all.dropLast().allSatisfy { $0.end == .superseded })
        #expect(try await bench.claim().map(\.token.id) == all.suffix(1).map(\.record.id))
    }

    @Test("A job that is born running is claimed by nobody else", arguments: StoreKind.all)
    func born(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let jobs = (0..<24).map { _ in bench.newJob { $0.upstream = "eu" } }
        let (store, now) = (bench.store, bench.now)
        let claims = try await answers(jobs) { job -> [JobID] in
            let answer = try await store.enqueue([job], at: now)[0]
            let others = try await store.claim("hooks", limit: 2, upstream: "eu", at: now).claims
            let own: [JobID] = if case .running(let token) = answer { [token.id] } else { [] }
            return own + others.map(\.token.id)
        }
        let rest = try await bench.claim().map(\.token.id)
        let all = claims.flatMap(\.self) + rest
        #expect(all.count == 24 && Set(all) == Set(jobs.map(\.record.id)))
    }

    @Test("An action and a claim never both have a job that waits", arguments: StoreKind.all)
    func cancelled(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for _ in 0..<30 { ids.append(try await bench.accept()) }
        let (store, now) = (bench.store, bench.now)
        async let actions = answers(ids) { id in
            try await store.apply(.cancel, to: JobFilter(ids: [id]), limit: 1, at: now)
        }
        async let claims = answers(Array(0..<6)) { _ in
            try await store.claim("hooks", limit: 4, upstream: "eu", at: now).claims
        }
        let asked = Set(try await actions.flatMap(\.asked))
        let claimed = Set(try await claims.flatMap { $0.map(\.token.id) })
        for id in ids {
            let job = try await bench.job(id)
            #expect((job.state == .running) == claimed.contains(id))
            #expect(
                job.isCancelAsked == asked.contains(id) && (claimed.contains(id) || job.state == .cancelled)
            )
        }
    }
}
