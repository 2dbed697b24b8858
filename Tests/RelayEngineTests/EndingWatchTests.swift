import RelayBase
import RelayCore
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("Jobs that end soon are looked for while somebody asks", .runQueue, .timeLimit(.minutes(1)))
struct EndingWatchTests {
    @Test(
        "Once in five seconds, however many ask, and those that expire and those that have their last attempt"
    )
    func looks() async throws {
        var policy = RetryPolicy()
        policy.maxAttempts = 3
        policy.backoff = Backoff(schedule: .constant(.seconds(600)), jitter: .none)
        let rule = RecoveryRule(
            name: "later",
            on: FailureMatcher([.statusClass(.serverError)]),
            action: .retry(policy)
        )
        let bench = DurableBench(
            {
                $0.recovery = [rule]
                $0.delivery.expiresAfter = .seconds(86_400)
            },
            answer: { _ in .answer(503) }
        )
        try await bench.start()
        let id = try await bench.submit()
        try await bench.job(id, is: .retrying)
        bench.time.advance(by: .seconds(1))
        await bench.until { bench.jobs.watch.counters.count(.retrying) == 1 }
        let ports = bench.ports
        func told() -> Trouble? { Troubles(bench.engine, bench.jobs, DaemonFacts()).worst.first }
        #expect(told()?.dying.count == 0)
        await bench.jobs.ending.look(ports)
        // Its second and third attempt are within the hour.
        let first = try #require(told())
        #expect(first.dying.count == 1 && first.expiring.count == 0)
        let last = bench.time.wallMilliseconds() + 1_199_000
        #expect(first.dying.first.map { abs($0 - last) <= 1_000 } == true, "\(first.dying) \(last)")
        _ = try await bench.jobs.store.apply(
            .cancel,
            to: JobFilter(ids: [id]),
            limit: 1,
            after: nil,
            at: JobMoment(bench.time)
        )
        await bench.jobs.ending.look(ports)
        #expect(bench.jobs.ending.jobs["hooks"]?.failed.count == 1, "it has just looked")
        bench.time.advance(by: .seconds(5))
        await bench.jobs.ending.look(ports)
        #expect(bench.jobs.ending.jobs["hooks"]?.failed.isEmpty ?? true)
        #expect(await bench.stop())
    }
}
