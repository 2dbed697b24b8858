import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job that was tried before it was kept", .timeLimit(.minutes(5)))
struct JobPastTests {
    private func past(_ bench: any StoreUnderTest, wait: Duration) -> PriorAttempts {
        let attempts = [Sent.neverSent, .unknown].enumerated().map { index, sent in
            var attempt = Attempt(number: index + 1, upstream: "eu", beganAt: bench.now.wall)
            attempt.failure = Failure(.httpResponseTimeout, sent: sent, "no answer")
            attempt.rule = index == 0 ? "again" : "answer"
            attempt.next = index == 0 ? .retry(after: .zero) : .respondAndKeep(.placeholder)
            if index == 1 { attempt.resentBy = "later" }
            return attempt
        }
        return PriorAttempts(attempts, isUncertain: true, standIn: .placeholder, wait: wait)
    }

    @Test(
        "brings its attempts, what they spent and what they leave open",
        arguments: StoreKind.all(.survives)
    )
    func inherits(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept {
            $0.past = past(bench, wait: .seconds(5))
            $0.due = .after(.seconds(5))
        }
        for isReopened in [false, true] {
            if isReopened { try await bench.reopen() }
            let job = try #require(try await bench.store.job(id))
            #expect(job.state == .retrying && job.reason == .backoff && job.isInDoubt)
            #expect(job.attempts == 2 && job.spentAttempts == 1 && job.earlierAttempts == 0)
            #expect(job.failureKind == .httpResponseTimeout)
            let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
            #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.rule) == ["again", "answer"])
            #expect(attempts.last?.next == .respondAndKeep(.placeholder))
            #expect(attempts.map(\.resentBy) == [nil, "later"])
        }
        let counters = try await bench.store.counters(at: bench.now, withDue: true)
        #expect(counters.counts[JobCounters.Group(route: "hooks", state: .retrying)] == 1)
        #expect(counters.counts[JobCounters.Group(route: "hooks", state: .scheduled)] ?? 0 == 0)
        #expect(try await bench.claim().isEmpty)
        try await bench.advance(by: 5_000)
        let claim = try #require(try await bench.claim().first)
        #expect(claim.attemptNumber == 3)
        try await bench.settle(claim, .succeeded)
        let all = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(all.map(\.number) == [1, 2, 3])
        #expect(try await bench.store.job(id)?.isInDoubt == false)
    }

    @Test("is claimed at once where nothing has to be waited for", arguments: StoreKind.all)
    func due(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.accept {
            $0.past = past(bench, wait: .zero)
            $0.due = .after(.zero)
        }
        #expect(kind.hasTold(["hooks"], in: try await bench.ready()))
        let claim = try #require(try await bench.claim().first)
        #expect(claim.attemptNumber == 3 && claim.job.spentAttempts == 1)
    }

    @Test("waits behind another of its ordering key", arguments: StoreKind.all)
    func ordered(kind: StoreKind) async throws {
        let bench = try await kind.open()
        try await bench.accept { $0.record.orderingKey = "k" }
        let id = try await bench.accept {
            $0.record.orderingKey = "k"
            $0.past = past(bench, wait: .zero)
            $0.due = .after(.zero)
        }
        let job = try #require(try await bench.store.job(id))
        #expect(job.state == .queued && job.reason == .ordering && job.attempts == 2)
        try await bench.settle(try await bench.claim()[0], .succeeded)
        #expect(try await bench.claim().map(\.token.id) == [id])
    }
}
