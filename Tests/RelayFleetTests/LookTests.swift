import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Looks for work behind a pooler", .timeLimit(.minutes(2)))
struct LookTests {
    @Test(
        "A node that no hint can reach finds jobs of another one between its beats, and rests when there are none"
    )
    func adaptive() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let told = Notes<Bool>()
        var events = JobStoreEvents()
        events.ready = { told.add($0.values.map(\.hasDates)) }
        let two = try await nodes.open("two", events: events) {
            $0.database.isPooled = true
            $0.looksByItself = false
        }
        func claim() async throws -> [JobID] {
            try await two.claim("hooks", limit: 64, upstream: "eu", at: .present).claims.map(\.token.id)
        }
        // It looks for lines once when it claims, and from then on claims what it is told of.
        #expect(await two.answer(.ofFleet()) == .success(.accepted))
        #expect(try await claim().count == 1)
        for _ in 0..<20 {
            #expect(try await claim().isEmpty)
            let (before, job, end) = (
                told.values.count, NewJob.ofFleet(), SystemClock.monotonic() + 20_000_000_000
            )
            #expect(await one.answer(job) == .success(.accepted))
            while told.values.count == before, SystemClock.monotonic() < end { _ = try await two.facts() }
            try #require(told.values.count > before)
            #expect(try await claim() == [job.id])
        }
        try await nodes.sql("SELECT 1 FROM pg_sleep(3)")
        let (busy, since) = (try await two.facts().statements, SystemClock.monotonic())
        try await nodes.sql("SELECT 1 FROM pg_sleep(3)")
        let statements = Int64(try await two.facts().statements - busy)
        #expect(statements * 1_000_000_000 <= 12 * (SystemClock.monotonic() - since) + 12_000_000_000)
        await one.close()
        await two.close()
    }
}
