import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store keeps what it has accepted", .timeLimit(.minutes(5)))
struct AcceptTests {
    @Test(
        "A job comes back with everything it was given, also in the next process",
        arguments: StoreKind.all(.survives)
    )
    func everything(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        let id = try await bench.accept(body: "öäü\u{0}\r\n") { job in
            job.record.priority = 6
            job.record.labels = ["order=8841", "shop=7"]
            job.record.orderingKey = "customer-42"
            job.record.supersedeKey = "stock-1"
            job.record.idempotencyKey = "k"
            job.record.submitter = JobRecord.Submitter(user: 1_001, unit: "shop-web.service")
            job.record.mayRepeat = false
            job.record.trace.parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            job.record.bounds.timeout = .seconds(20)
            job.record.bounds.maxAttempts = 4
            job.record.bounds.allowsFallback = false
            job.expiresAfter = .seconds(3_600)
        }
        for _ in 0..<2 {
            let job = try await bench.job(id)
            #expect(job.record.method == .post && job.record.target == "orders/7?x=1")
            #expect(
                job.record.fields.pairs.map { $0.name + $0.value } == [
                    "Content-Typetext/plain", "X-Twice1", "X-Twice2",
                ]
            )
            #expect(job.record.priority == 6 && job.record.labels == ["order=8841", "shop=7"])
            #expect(job.record.orderingKey == "customer-42" && job.record.supersedeKey == "stock-1")
            let node = bench.store.member?.node ?? .none
            let submitter = JobRecord.Submitter(user: 1_001, unit: "shop-web.service", on: node)
            #expect(job.record.submitter == submitter)
            #expect(!job.record.mayRepeat && job.record.trace.parent?.hasPrefix("00-0af") == true)
            #expect(job.record.bounds.timeout == .seconds(20) && job.record.bounds.maxAttempts == 4)
            #expect(!job.record.bounds.allowsFallback && job.record.idempotencyKey == "k")
            #expect(bench.isAt(job.createdAt, start) && bench.isAt(job.expiresAt, start + 3_600_000))
            #expect(job.state == .queued && job.bodyLength == 9 && job.hasBody && job.version == 1)
            #expect(try await bench.store.body(of: id) == .bytes(Array("öäü\u{0}\r\n".utf8)))
            try await bench.reopen()
        }
    }

    @Test("No job appears that nobody handed over", arguments: StoreKind.all)
    func nothingInvented(kind: StoreKind) async throws {
        let bench = try await kind.open()
        #expect(try await bench.store.job(bench.id()) == nil)
        #expect(try await bench.store.body(of: bench.id()) == nil)
        #expect(
            try await bench.store.jobs(JobFilter(), order: .oldestFirst, limit: 10, after: nil).jobs.isEmpty
        )
        #expect(try await bench.claim().isEmpty)
    }

    @Test("The same id twice is the same job", arguments: StoreKind.all)
    func sameID(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let job = bench.newJob()
        #expect(
            try await bench.store.enqueue([job, job], at: bench.now) == [
                .accepted, .duplicate(job.record.id),
            ]
        )
        #expect(try await bench.claim().count == 1)
    }

    @Test(
        "A key known with the same request stands for the first job; with another request it is a conflict",
        arguments: StoreKind.all(.survives)
    )
    func idempotency(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func submit(
            _ key: String,
            _ print: UInt8,
            user: UInt32 = 1,
            route: String = "hooks"
        ) async throws -> EnqueueResult {
            let job = bench.newJob(route) {
                $0.idempotency = NewJob.Idempotency(
                    user: user,
                    key: key,
                    fingerprint: [print],
                    window: .seconds(60)
                )
            }
            return try await bench.store.enqueue([job], at: bench.now)[0]
        }
        let first = bench.newJob {
            $0.idempotency = NewJob.Idempotency(user: 1, key: "a", fingerprint: [1], window: .seconds(60))
        }
        #expect(try await bench.store.enqueue([first], at: bench.now) == [.accepted])
        #expect(try await submit("a", 1) == .duplicate(first.record.id))
        #expect(try await submit("a", 2) == .conflict(first.record.id))
        #expect(try await submit("a", 1, user: 2) == .accepted)
        #expect(try await submit("a", 1, route: "other") == .accepted)
        #expect(try await submit("", 1) == .accepted)
        // Neither the end of the job nor of the process ends the window.
        for claim in try await bench.claim() { try await bench.settle(claim, .succeeded) }
        try await bench.apply(.drop, first.record.id)
        try await bench.reopen(after: 1_000)
        #expect(try await submit("a", 1) == .duplicate(first.record.id))
        try await bench.advance(by: 59_000 - bench.tick)
        #expect(try await submit("a", 2) == .conflict(first.record.id))
        try await bench.advance(by: bench.tick)
        #expect(try await submit("a", 2) == .accepted)
    }

    @Test("Of many submitters with one key at once, exactly one is accepted", arguments: StoreKind.all)
    func race(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let jobs = (0..<64).map { _ in
            bench.newJob {
                $0.idempotency = NewJob.Idempotency(user: 1, key: "k", fingerprint: [], window: .seconds(60))
            }
        }
        let (store, now) = (bench.store, bench.now)
        let answers = await withTaskGroup(of: EnqueueResult?.self) { group in
            for job in jobs { group.addTask { try? await store.enqueue([job], at: now)[0] } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let winner = try #require(await bench.claim().first?.token.id)
        #expect(answers.count { $0 == .accepted } == 1)
        #expect(answers.count { $0 == .duplicate(winner) } == 63)
    }

    @Test(
        "A newer job with its key cancels the one that waits, but not the one that runs",
        arguments: StoreKind.all
    )
    func supersede(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func submit(_ route: String = "hooks") async throws -> JobID {
            try await bench.accept(route) { $0.record.supersedeKey = "stock-1" }
        }
        let running = try await submit()
        let claim = try await bench.claim()[0]
        let waiting = try await submit()
        let elsewhere = try await submit("other")
        let newest = try await submit()
        #expect(claim.token.id == running)
        #expect(try await bench.state(running) == .running)
        #expect(try await bench.job(waiting).state == .cancelled)
        #expect(try await bench.job(waiting).end == .superseded)
        #expect(try await bench.state(elsewhere) == .queued)
        #expect(try await bench.state(newest) == .queued)
    }

    @Test("A job without room is told from its key, and is never accepted", arguments: StoreKind.all)
    func withoutRoom(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func job(_ key: String?, _ print: UInt8 = 1, hasNoRoom: Bool = true) -> NewJob {
            bench.newJob {
                $0.lacksCapacity = hasNoRoom
                $0.idempotency = key.map {
                    NewJob.Idempotency(user: 7, key: $0, fingerprint: [print], window: .seconds(60))
                }
            }
        }
        let first = job("k", hasNoRoom: false)
        #expect(try await bench.store.enqueue([first], at: bench.now) == [.accepted])
        let asked = [job("k"), job("k", 2), job("l"), job(nil)]
        let known = first.record.id
        #expect(
            try await bench.store.enqueue(asked, at: bench.now)
                == [.duplicate(known), .conflict(known), .abandoned, .abandoned]
        )
        #expect(try await bench.claim().map(\.token.id) == [known])
        // It has taken no key.
        #expect(try await bench.store.enqueue([job("l", hasNoRoom: false)], at: bench.now) == [.accepted])
    }

    @Test("One user's supersede key leaves another's jobs alone", arguments: StoreKind.all)
    func supersedeOfAnother(kind: StoreKind) async throws {
        let bench = try await kind.open()
        func submit(_ user: UInt32?) async throws -> JobID {
            try await bench.accept {
                $0.record.supersedeKey = "k"
                $0.record.submitter = user.map { JobRecord.Submitter(user: $0, unit: nil) }
            }
        }
        let hers = try await submit(1000)
        let claim = try await bench.claim("hooks", 1)[0]
        let nobodys = try await submit(nil)
        let his = try await submit(1001)
        #expect(try await bench.state(nobodys) == .queued)
        #expect(claim.token.id == hers && claim.job.record.supersedeKey == "k")
        // Nor does he wait for her running one.
        #expect(Set(try await bench.claim().map(\.token.id)) == [nobodys, his])
        try await bench.settle(claim, .retry(after: .seconds(1), .backoff))
        #expect(try await bench.state(hers) == .retrying)
    }

    @Test("A store says which routes have got work", arguments: StoreKind.all)
    func wakeups(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.accept("hooks")
        try await bench.accept("later") { $0.due = .after(.seconds(60)) }
        // Also what is due later: whoever waits for the route has to know until when.
        let told = try await bench.ready()
        #expect(kind.hasTold(["hooks", "later"], in: told))
        #expect(try await bench.isAt(bench.store.nextDue("later", at: bench.now), bench.now.wall + 60_000))
        try await bench.advance(by: 60_000)
        _ = try await bench.store.sweep(Retention(), limit: 10, at: bench.now)
        #expect(kind.hasTold(["later"], in: try await bench.ready().dropFirst(told.count)))
    }

    @Test("Positions grow and are never used again", arguments: StoreKind.all(.survives))
    func positions(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var last: Int64 = 0
        for round in 0..<4 {
            let id = try await bench.accept()
            let position = try await bench.job(id).position
            #expect(position > last)
            last = position
            try await bench.apply(.drop, id)
            if round % 2 == 1 { try await bench.reopen() }
        }
    }
}
