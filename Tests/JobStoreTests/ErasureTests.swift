import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Content goes with the end that it is to go with", .timeLimit(.minutes(5)))
struct ErasureTests {
    private func job(_ bench: any StoreUnderTest, dropsContent: Bool = false) -> NewJob {
        bench.newJob(body: "secret") { job in
            job.record.target = "orders/7?token=secret"
            job.record.fields.append("Cookie", "session=secret")
            job.record.trace.parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            job.record.trace.state = "vendor=secret"
            job.record.trace.baggage = "user=secret"
            job.dropsContent = dropsContent
        }
    }

    enum Way: CaseIterable, Sendable {
        case settled, dead, expunged, cancelled, cancelledWhileRunning, superseded, expired, crashed
    }

    @Test(
        "Fields, query, trace and body of a request are gone, whichever way they went, and the rest stays",
        arguments: StoreKind.all(.survives),
        Way.allCases
    )
    func erased(kind: StoreKind, way: Way) async throws {
        let bench = try await kind.open()
        var new = job(bench, dropsContent: way != .settled && way != .expunged)
        if way == .expired { new.expiresAfter = .seconds(5) }
        if way == .superseded { new.record.supersedeKey = "s" }
        if way == .crashed { new.record.mayRepeat = false }
        #expect(try await bench.store.enqueue([new], at: bench.now) == [.accepted])
        let id = new.record.id
        #expect(try await bench.store.body(of: id) == new.body)
        switch way {
        case .settled:
            var settlement = Settlement(try await bench.claim()[0].token, .succeeded)
            settlement.dropsBody = true
            _ = try await bench.store.settle([settlement], at: bench.now)
        case .dead: try await bench.settle(try await bench.claim()[0], .dead(.rejected))
        case .expunged:
            try await bench.settle(try await bench.claim()[0], .succeeded)
            try await bench.apply(.expunge, id)
        case .cancelled: try await bench.apply(.cancel, id)
        case .cancelledWhileRunning:
            let claim = try await bench.claim()[0]
            try await bench.apply(.cancel, id)
            try await bench.settle(claim, .retry(after: .seconds(60), .backoff))
        case .superseded: try await bench.accept { $0.record.supersedeKey = "s" }
        case .crashed:
            #expect(try await bench.claim().count == 1)
            try await bench.reopen()
        case .expired:
            try await bench.advance(by: 5_000)
            #expect(try await bench.sweep().ended.map(\.id) == [id])
        }
        for _ in 0..<2 {
            let kept = try await bench.job(id)
            #expect(!kept.hasBody && kept.bodyLength == 6 && kept.state.isTerminal)
            #expect(kept.record.fields.entries.isEmpty && kept.record.target == "orders/7")
            #expect(kept.record.trace.parent == new.record.trace.parent)
            #expect(kept.record.trace.state == nil && kept.record.trace.baggage == nil)
            #expect(try await bench.store.body(of: id) == .expunged)
            try await bench.reopen()
        }
    }

    @Test(
        "The upstream's words are gone with the content of a job, and why it failed stays",
        arguments: StoreKind.all
    )
    func unquoted(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var attempts: [Attempt] = []
        for number in 1...2 {
            var attempt = Attempt(number: number, upstream: "eu", beganAt: 5, duration: .seconds(1))
            attempt.failure = Failure(.apiError, sent: .answered, "an error document", status: 422)
            attempt.failure?.apiCode = "taken"
            attempt.failure?.apiTitle = "alice is taken"
            attempts.append(attempt)
        }
        let token = try await bench.claim()[0].token
        let settlement = Settlement(token, .dead(.rejected), attempts: attempts, failureKind: .apiError)
        _ = try await bench.store.settle([settlement], at: bench.now)
        #expect(
            try await bench.store.attempts(of: id, after: 0, limit: 5).map(\.failure?.apiTitle)
                == ["alice is taken", "alice is taken"]
        )
        try await bench.apply(.expunge, id)
        let kept = try await bench.store.attempts(of: id, after: 0, limit: 5)
        #expect(kept.map(\.failure?.kind) == [.apiError, .apiError])
        #expect(kept.allSatisfy { $0.failure?.apiTitle == nil && $0.failure?.apiCode == "taken" })
    }

    @Test("A request that is kept stays as it is", arguments: StoreKind.all(.survives))
    func kept(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let new = job(bench)
        #expect(try await bench.store.enqueue([new], at: bench.now) == [.accepted])
        try await bench.settle(try await bench.claim()[0], .succeeded)
        try await bench.reopen()
        let kept = try await bench.job(new.record.id).record
        #expect(kept.fields.pairs.map(\.value) == new.record.fields.pairs.map(\.value))
        #expect(kept.target == new.record.target && kept.trace == new.record.trace)
    }
}
