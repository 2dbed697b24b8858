import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Jobs that get another life, and those that cannot", .timeLimit(.minutes(5)))
struct ReplayTests {
    private func kill(_ bench: any StoreUnderTest, _ count: Int, route: String = "hooks") async throws {
        for _ in 0..<count / 100 {
            _ = try await bench.store.enqueue((0..<100).map { _ in bench.newJob(route) }, at: bench.now)
        }
        var left = count
        while case let claims = try await bench.claim(route), !claims.isEmpty {
            let settlements = claims.map { Settlement($0.token, .dead(.exhausted)) }
            _ = try await bench.store.settle(settlements, at: bench.now)
            left -= claims.count
        }
        #expect(left == 0)
    }

    /// Retries every dead job, as many a second as the spacing says.
    private func retry(_ bench: any StoreUnderTest, every interval: Int64) async throws -> Int {
        var filter = JobFilter()
        filter.states = [.dead]
        var changed = 0
        var cursor: JobCursor?
        repeat {
            let report = try await bench.store.apply(
                .retry,
                to: filter,
                limit: 300,
                after: cursor,
                spacing: JobSpacing(
                    first: .milliseconds(Int64(changed) * interval),
                    interval: .milliseconds(interval)
                ),
                at: bench.now
            )
            changed += report.changed
            cursor = report.next
        } while cursor != nil
        return changed
    }

    @Test(
        "A thousand dead jobs retried 20 ms apart become due one after another, also across a restart",
        arguments: StoreKind.all([.survives, .stillClock])
    )
    func spaced(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await kill(bench, 1_000)
        let start = bench.now.wall
        #expect(try await retry(bench, every: 20) == 1_000)
        let first = try await bench.claim()
        #expect(first.count == 1)
        // The store tells when the next of them is due.
        var claimed = 1
        for round in 1..<500 {
            let due = try #require(await bench.store.nextDue("hooks", at: bench.now))
            #expect(due == start + Int64(round) * 20)
            try await bench.advance(by: due - bench.now.wall - 1)
            #expect(try await bench.claim().isEmpty)
            try await bench.advance(by: 1)
            claimed += try await bench.claim().count
        }
        #expect(claimed == 500)
        let waiting = try await bench.store.jobs(JobFilter(), order: .newestFirst, limit: 1, after: nil).jobs[
            0
        ]
        #expect(waiting.state == .queued && waiting.reason == .throttled)
        // The clock goes on while the process is away; those in flight come back after the crash.
        try await bench.reopen(after: 5)
        #expect(try await bench.claim("hooks", 1_000).count == 500)
        try await bench.advance(by: 15)
        #expect(try await bench.claim().count == 1)
        try await bench.advance(by: 499 * 20)
        #expect(try await bench.claim("hooks", 1_000).count == 499)
    }

    @Test("The store tells of a route that a job has become due sooner", arguments: StoreKind.all)
    func sooner(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let scheduled = try await bench.accept { $0.due = .after(.seconds(3_600)) }
        let retrying = try await bench.accept("other")
        try await bench.settle(try await bench.claim("other")[0], .retry(after: .seconds(3_600), .backoff))
        for (id, route) in [(scheduled, "hooks"), (retrying, "other")] {
            let before = try await bench.ready().count
            _ = try await bench.store.apply(
                .retry,
                to: JobFilter(ids: [id]),
                limit: 1,
                spacing: JobSpacing(first: .seconds(40), interval: .zero),
                at: bench.now
            )
            #expect(kind.hasTold([route], in: try await bench.ready().dropFirst(before)))
            #expect(try await bench.isAt(bench.store.nextDue(route, at: bench.now), bench.now.wall + 40_000))
            #expect(try await bench.job(id).reason == .throttled)
        }
        try await bench.advance(by: 40_000 - bench.tick)
        for route in ["hooks", "other"] { #expect(try await bench.claim(route).isEmpty) }
        try await bench.advance(by: bench.tick)
        for route in ["hooks", "other"] { #expect(try await bench.claim(route).count == 1) }
    }

    @Test("Spaced jobs of one ordering key still come one at a time", arguments: StoreKind.all)
    func spacedKeys(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for _ in 0..<3 { ids.append(try await bench.accept { $0.record.orderingKey = "k" }) }
        for _ in 0..<3 { try await bench.settle(try await bench.claim()[0], .dead(.exhausted)) }
        #expect(try await retry(bench, every: 20_000) == 3)
        for id in ids {
            let claims = try await bench.claim()
            #expect(claims.map(\.token.id) == [id])
            try await bench.settle(claims[0], .succeeded)
            #expect(try await bench.claim().isEmpty)
            try await bench.advance(by: 20_000)
        }
    }

    @Test("A replayed job knows how many attempts its earlier lives had", arguments: StoreKind.all(.survives))
    func earlier(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        #expect(try await bench.job(id).earlierAttempts == 0)
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted), attempts: 3)
        #expect(try await bench.job(id).earlierAttempts == 0)
        try await bench.apply(.retry, id)
        try await bench.reopen()
        let claim = try await bench.claim()[0]
        #expect(claim.job.earlierAttempts == 3 && claim.attemptNumber == 4 && claim.job.spentAttempts == 0)
        try await bench.settle(claim, .dead(.exhausted), attempts: 2)
        try await bench.reopen()
        #expect(try await bench.job(id).earlierAttempts == 3)
        try await bench.apply(.retry, id)
        #expect(try await bench.job(id).earlierAttempts == 5)
    }

    @Test(
        "A settlement may take the request's body along; the answer stays",
        arguments: StoreKind.all(.survives)
    )
    func dropsBody(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let answer = StoredAnswer(status: 201, fields: HeaderFields(), body: .bytes([1, 2]))
        for (ending, isDropped) in [
            (.succeeded, true), (.dead(.exhausted), true), (.held(.credentials), false),
        ]
            as [(Settlement.Ending, Bool)]
        {
            let id = try await bench.accept("r", body: "secret")
            var settlement = Settlement(try await bench.claim("r")[0].token, ending, answer: answer)
            settlement.dropsBody = true
            _ = try await bench.store.settle([settlement], at: bench.now)
            for _ in 0..<2 {
                #expect(try await bench.job(id).hasBody == !isDropped)
                let body = try await bench.store.body(of: id)
                #expect(body == (isDropped ? .expunged : .bytes(Array("secret".utf8))))
                #expect(try await bench.store.answer(of: id)?.body == .bytes([1, 2]))
                try await bench.reopen()
            }
            guard isDropped else { continue }
            // Without a body there is nothing to send again, and retention still takes the answer's.
            #expect(try await bench.apply(.retry, id).changed == 0)
            #expect(try await bench.apply(.expunge, id).changed == 1)
            #expect(try await bench.apply(.expunge, id).changed == 0)
            #expect(try await bench.store.answer(of: id)?.body == .expunged)
        }
    }

    @Test("An attempt tells which rules were held back, and why", arguments: StoreKind.all(.survives))
    func heldBack(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var attempt = Attempt(number: 1, upstream: "eu", beganAt: 1)
        attempt.heldBack = [
            HeldBack(rule: "retry-busy", reason: .recorded("its 3 uses are spent")),
            HeldBack(rule: "", reason: .recorded("ö")),
        ]
        let token = try await bench.claim()[0].token
        _ = try await bench.store.settle(
            [Settlement(token, .retry(after: .zero, .backoff), attempts: [attempt])],
            at: bench.now
        )
        try await bench.reopen()
        let found = try await bench.store.attempts(of: id, after: 0, limit: 5)
        #expect(found.map(\.number) == [1] && found.map(\.heldBack) == [attempt.heldBack])
    }
}
