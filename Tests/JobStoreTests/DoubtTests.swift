import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job whose upstream can be asked", .timeLimit(.minutes(5)))
struct DoubtTests {
    @Test(
        "A crash leaves it waiting, in doubt, and the upstream's word takes the doubt away",
        arguments: StoreKind.all(.survives),
        [true, false]
    )
    func crash(kind: StoreKind, isBorn: Bool) async throws {
        let bench = try await kind.open()
        let job = bench.newJob { job in
            job.record.mayRepeat = false
            job.record.asksFirst = true
            if isBorn { job.upstream = "eu" }
        }
        _ = try await bench.store.enqueue([job], at: bench.now)
        let id = job.record.id
        if !isBorn { #expect(try await bench.claim().count == 1) }
        try await bench.reopen()
        let found = try await bench.job(id)
        #expect(found.state == .retrying && found.isInDoubt && found.record.asksFirst)
        #expect(!found.record.mayRepeat && found.attempts == 1)
        let claim = try #require(try await bench.claim().first)
        var asked = Attempt(number: 2, upstream: "eu", beganAt: 7)
        (asked.status, asked.lookUp, asked.next) = (404, .absent, .retry(after: .seconds(1)))
        var settlement = Settlement(claim.token, .retry(after: .zero, .backoff), attempts: [asked])
        settlement.isSettled = true
        _ = try await bench.store.settle([settlement], at: bench.now)
        try await bench.reopen()
        let settled = try await bench.job(id)
        #expect(settled.state == .retrying && !settled.isInDoubt && settled.spentAttempts == 1)
        let attempts = try await bench.store.attempts(of: id, after: 0, limit: 10)
        #expect(attempts.map(\.lookUp) == [nil, .absent] && attempts.map(\.isSpent) == [true, false])
    }
}
