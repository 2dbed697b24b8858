import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store hands every job to one holder at a time", .timeLimit(.minutes(5)))
struct ClaimTests {
    @Test("Urgent jobs come first, then those due longest, then the oldest", arguments: StoreKind.all)
    func order(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var names: [JobID: String] = [:]
        for (name, priority) in [("low", 7), ("b", 3), ("c", 3), ("high", 0)] as [(String, UInt8)] {
            names[try await bench.accept { $0.record.priority = priority }] = name
        }
        names[try await bench.accept { $0.due = .after(.milliseconds(1)) }] = "d"
        try await bench.advance(by: 10)
        names[try await bench.accept()] = "e"
        let first = try await bench.claim("hooks", 2)
        let rest = try await bench.claim()
        #expect((first + rest).map { names[$0.token.id] } == ["high", "b", "c", "d", "e", "low"])
        #expect(first.allSatisfy { $0.job.state == .running && $0.attemptNumber == 1 })
        #expect(try await bench.claim().isEmpty)
    }

    @Test("A claim carries the request", arguments: StoreKind.all)
    func request(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.accept(body: "hello")
        let claim = try await bench.claim()[0]
        #expect(claim.body == .bytes(Array("hello".utf8)) && claim.job.record.target == "orders/7?x=1")
        #expect(claim.job.record.fields.count == 3)
    }

    @Test("Routes do not share their jobs", arguments: StoreKind.all)
    func routes(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.accept("a")
        #expect(try await bench.claim("b").isEmpty)
        #expect(try await bench.claim("a").count == 1)
    }

    @Test("A settled or lost claim changes nothing any more", arguments: StoreKind.all(.survives))
    func stale(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let first = try await bench.claim()[0]
        #expect(
            try await bench.settle(first, .requeued(after: .zero, .concurrency), attempts: 0)
                == .applied(.queued)
        )
        let second = try await bench.claim()[0]
        #expect(first.token.number != second.token.number)
        #expect(try await bench.settle(first, .succeeded) == .stale)
        #expect(try await bench.state(id) == .running)
        try await bench.reopen()
        let third = try await bench.claim()[0]
        #expect(try await bench.settle(second, .dead(.exhausted)) == .stale)
        #expect(try await bench.settle(third, .succeeded) == .applied(.succeeded))
        #expect(try await bench.settle(third, .dead(.exhausted)) == .stale)
        // One was cut short, one succeeded.
        #expect(try await bench.job(id).attempts == 2)
        #expect(
            try await bench.settle(
                Claim(
                    token: ClaimToken(
                        id: bench.id(),
                        position: third.token.position,
                        number: third.token.number
                    ),
                    job: third.job,
                    body: third.body
                ),
                .succeeded
            ) == .stale
        )
    }

    @Test(
        "No claim has a number that another had, whatever came between",
        arguments: StoreKind.all(.survives)
    )
    func numbers(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var numbers: Set<UInt64> = []
        for round in 1...6 {
            for _ in 0..<4 { try await bench.accept() }
            let claims = try await bench.claim("hooks", 3)
            numbers.formUnion(claims.map(\.token.number))
            #expect(numbers.count == round * 3)
            for claim in claims { try await bench.settle(claim, .requeued(after: .zero, nil), attempts: 0) }
            if round % 2 == 0 { try await bench.reopen() }
        }
    }

    @Test("Each ending leaves the job where it says", arguments: StoreKind.all)
    func endings(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let table: [(Settlement.Ending, JobState, WaitReason?, EndReason?)] = [
            (.succeeded, .succeeded, nil, nil), (.dead(.rejected), .dead, nil, .rejected),
            (.retry(after: .seconds(5), .backoff), .retrying, .backoff, nil),
            (.requeued(after: .seconds(5), .breakerOpen), .queued, .breakerOpen, nil),
            (.requeued(after: .zero, nil), .queued, nil, nil),
            (.held(.credentials), .held, .credentials, nil), (.cancelled, .cancelled, nil, .cancelled),
            (.expired, .expired, nil, .expired),
        ]
        for (ending, state, reason, end) in table {
            let id = try await bench.accept("r")
            let claim = try await bench.claim("r")[0]
            let burned = if case .requeued = ending { 0 } else { 1 }
            #expect(
                try await bench.settle(claim, ending, attempts: burned, kind: "http_status")
                    == .applied(state, end)
            )
            let job = try await bench.job(id)
            #expect(job.state == state && job.reason == reason && job.end == end, "\(ending)")
            #expect(job.attempts == burned && job.failureKind == "http_status" && job.version == 3)
            #expect((job.finishedAt != nil) == state.isTerminal)
            try await bench.apply(.drop, id)
        }
    }

    @Test(
        "Attempts are numbered over the whole life of a job, and the last answer is kept",
        arguments: StoreKind.all(.survives)
    )
    func attempts(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var fields = HeaderFields()
        fields.append("Retry-After", "5")
        let refusal = StoredAnswer(status: 503, fields: fields, body: .bytes([1, 2]))
        try await bench.settle(
            try await bench.claim()[0],
            .retry(after: .zero, .backoff),
            attempts: 2,
            answer: refusal,
            kind: "http_status"
        )
        try await bench.reopen()
        let claim = try await bench.claim()[0]
        #expect(claim.attemptNumber == 3)
        try await bench.settle(claim, .retry(after: .zero, .backoff), attempts: 1)
        let kept = try #require(await bench.store.answer(of: id))
        #expect(kept.status == 503 && kept.body == .bytes([1, 2]) && kept.fields.pairs.map(\.value) == ["5"])
        let last = StoredAnswer(status: 200, fields: HeaderFields(), body: .bytes([]), source: .fallback)
        try await bench.settle(try await bench.claim()[0], .succeeded, attempts: 1, answer: last)
        let numbers = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(numbers.map(\.number) == [1, 2, 3, 4])
        #expect(numbers[1].duration == .milliseconds(2) && numbers[0].status == 503)
        #expect(numbers[0].failure?.kind == "http_status" && numbers[3].failure == nil)
        #expect(try await bench.store.attempts(of: id, after: 2, limit: 1).map(\.number) == [3])
        let answer = try #require(await bench.store.answer(of: id))
        #expect(answer.status == 200 && answer.body == .bytes([]) && answer.source == .fallback)
        #expect(try await bench.job(id).attempts == 4)
    }

    @Test(
        "At crashes a job goes on, with the attempt that was cut short on record, until it was in flight at three",
        arguments: StoreKind.all(.survives)
    )
    func crashes(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var began: [Int64] = []
        for crash in 1...3 {
            let claim = try #require(await bench.claim().first)
            #expect(claim.attemptNumber == crash)
            began.append(bench.now.wall)
            try await bench.reopen()
            #expect(try await bench.job(id).crashes == crash)
            #expect(try await bench.job(id).spentAttempts == crash)
        }
        #expect(try await bench.job(id).state == .dead)
        #expect(try await bench.job(id).end == .poison)
        #expect(try await bench.job(id).failureKind == .interrupted)
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.number) == [1, 2, 3])
        #expect(zip(attempts, began).allSatisfy { bench.isAt($0.beganAt, $1) })
        #expect(
            attempts.allSatisfy {
                $0.upstream == "eu" && $0.failure?.kind == .interrupted && $0.sent == .unknown
            }
        )
        #expect(try await bench.claim().isEmpty)
        try await bench.apply(.retry, id)
        #expect(try await bench.claim().count == 1)
    }

    @Test("Crashes in looks at an operation do not end a job", arguments: StoreKind.all(.survives))
    func looks(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let first = try #require(await bench.claim().first)
        try await bench.settle(first, .retry(after: .zero, .following), attempts: 1)
        for crash in 1...3 {
            _ = try #require(await bench.claim().first)
            #expect(try await bench.job(id).reason == nil)
            try await bench.reopen()
            let job = try await bench.job(id)
            #expect(job.crashes == crash && job.state == .retrying && job.reason == .following)
        }
        #expect(try await bench.claim().isEmpty)
    }

    @Test(
        "A job that must not be repeated is dead after a crash in flight, its outcome unknown",
        arguments: StoreKind.all(.survives)
    )
    func outcomeUnknown(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let flying = try await bench.accept { $0.record.mayRepeat = false }
        #expect(try await bench.claim().count == 1)
        let waiting = try await bench.accept { $0.record.mayRepeat = false }
        try await bench.reopen()
        #expect(try await bench.job(flying).state == .dead)
        #expect(try await bench.job(flying).end == .outcomeUnknown)
        let attempts = try await bench.store.attempts(of: flying, after: 0, limit: 10)
        #expect(attempts.map(\.upstream) == ["eu"] && attempts.map(\.failure?.kind) == [.interrupted])
        #expect(try await bench.claim().map(\.token.id) == [waiting])
    }
}
