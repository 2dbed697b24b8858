import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job whose caller has stopped to wait is none, unless it comes again", .timeLimit(.minutes(5)))
struct AbandonedTests {
    /// How a caller that comes again would mean the same job.
    enum Key: CaseIterable, Sendable {
        case none, idempotency, supersede
    }

    private func job(
        _ bench: any StoreUnderTest,
        _ key: Key,
        hasUpstream: Bool,
        _ wait: AcceptanceWait
    ) -> NewJob {
        bench.newJob {
            if hasUpstream { $0.upstream = "eu" }
            $0.wait = wait
            $0.record.orderingKey = "k"
            switch key {
            case .none: break
            case .idempotency:
                $0.idempotency = NewJob.Idempotency(user: 1, key: "a", fingerprint: [], window: .seconds(600))
            case .supersede: $0.record.supersedeKey = "s"
            }
        }
    }

    @Test(
        "It stays and waits for a claim where its key tells it from the next try; else nobody is kept back by it",
        arguments: StoreKind.all,
        Key.allCases
    )
    func unawaited(kind: StoreKind, key: Key) async throws {
        for hasUpstream in [false, true] {
            let bench = try await kind.open()
            let wait = AcceptanceWait()
            #expect(wait.giveUp())
            let job = job(bench, key, hasUpstream: hasUpstream, wait)
            let answer = try await bench.store.enqueue([job], at: bench.now)
            try await bench.hear()
            let kept = try await bench.store.job(job.record.id)
            let next = try await bench.accept { $0.record.orderingKey = "k" }
            if key == .none {
                #expect(answer == [.abandoned] && kept == nil || kept?.state == .cancelled)
                #expect(kept?.begun == nil && kept?.attempts ?? 0 == 0)
                #expect(try await bench.claim().map(\.token.id) == [next])
            } else {
                #expect(answer == [.accepted] && kept?.state == .queued && kept?.attempts == 0)
                #expect(try await bench.claim().map(\.token.id) == [job.record.id])
            }
        }
    }

    @Test("The one that came first keeps its word: the store, once it is on disk", arguments: StoreKind.all)
    func landed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let wait = AcceptanceWait()
        let job = job(bench, .none, hasUpstream: true, wait)
        let answer = try await bench.store.enqueue([job], at: bench.now)
        #expect(!wait.giveUp())
        guard case .running(let token)? = answer.first else {
            Issue.record("it was not claimed: \(answer)")
            return
        }
        #expect(try await bench.state(job.record.id) == .running)
        let attempt = Attempt(number: 1, upstream: "eu", beganAt: bench.now.wall)
        let settlement = Settlement(token, .succeeded, attempts: [attempt])
        #expect(try await bench.store.settle([settlement], at: bench.now) == [.applied(.succeeded)])
    }
}
