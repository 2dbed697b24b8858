import Glibc
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayTestSupport
import Synchronization
import Testing

@Suite("A lease holds though clocks jump and nodes stand still", .timeLimit(.minutes(3)))
struct LeaseTests {
    private static let lease: Duration = .milliseconds(1_500)

    /// A clock that the test steps.
    private final class SteppedClock: Sendable {
        private let offset = Atomic<Int64>(0)

        var now: Int64 { SystemClock.monotonic() + offset.load(ordering: .relaxed) }

        func step(by duration: Duration) {
            offset.add(duration.saturatedNanoseconds, ordering: .relaxed)
        }
    }

    @Test(
        "A node whose clock has jumped takes nothing over before it has had its lease for a whole one again"
    )
    func step() async throws {
        let nodes = try await Nodes()
        let clock = SteppedClock()
        // So long that a busy machine looks in time.
        let lease: Duration = .seconds(4)
        let one = try await nodes.open("one", lease: lease)
        let two = try await nodes.open("two", lease: lease) { $0.clock = { clock.now } }
        let job = NewJob.ofFleet()
        #expect(await one.answer(job) == .success(.accepted))
        _ = try await one.nextClaim()
        await one.breakOff()
        let left = """
            SELECT until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM SCHEMA.node WHERE name = 'one'
            """
        try await until { try await nodes.sql(left) ?? 0 <= 1_500 }
        clock.step(by: .seconds(60))
        let stepped = SystemClock.monotonic()
        #expect(try await two.nextClaim().token.id == job.id)
        #expect(SystemClock.monotonic() - stepped >= lease.saturatedNanoseconds)
        await two.close()
    }

    @Test("A database whose clock jumps ahead, as after a failover, ends no lease of a node that lives")
    func database() async throws {
        let nodes = try await Nodes()
        func step(to milliseconds: Int64) async throws {
            try await nodes.sql(
                """
                CREATE OR REPLACE FUNCTION SCHEMA.skew() RETURNS bigint LANGUAGE sql VOLATILE
                AS 'SELECT \(milliseconds)::bigint'
                """
            )
        }
        try await step(to: 0)
        let clock =
            "((extract(epoch FROM clock_timestamp()) * 1000)::bigint + \(nodes.named("SCHEMA")).skew())"
        let lease: Duration = .seconds(6)
        let one = try await nodes.open("one", lease: lease) { $0.databaseClock = clock }
        let two = try await nodes.open("two", lease: lease) { $0.databaseClock = clock }
        // From here on the other one may take over.
        try await nodes.sql("SELECT count(pg_sleep(7))")
        #expect(await one.answer(.ofFleet()) == .success(.accepted))
        let claim = try await one.nextClaim()
        let end = "SELECT until FROM SCHEMA.node WHERE name = 'one'"
        let before = try await nodes.sql(end)
        while try await nodes.sql(end) == before {}
        try await step(to: 60_000)
        while try await nodes.sql("SELECT (until > \(clock))::int FROM SCHEMA.node WHERE name = 'one'") != 1 {
        }
        let answers = try await one.settle([Settlement(claim.token, .succeeded)], at: .present)
        #expect(answers == [.applied(.succeeded)])
        await one.close()
        await two.close()
    }

    @Test("A node that stood still for longer than its lease has lost its jobs, and is told so")
    func still() async throws {
        let nodes = try await Nodes()
        let (isStill, asked) = (Flag(), Notes<JobID>())
        var events = JobStoreEvents()
        events.changed = { while isStill.isSet { _ = poll(nil, 0, 5) } }
        events.asked = { asked.add($0) }
        let one = try await nodes.open("one", lease: Self.lease, events: events)
        let two = try await nodes.open("two", lease: Self.lease)
        let job = NewJob.ofFleet()
        #expect(await one.answer(job) == .success(.accepted))
        let lost = try await one.nextClaim()
        isStill.set()
        async let other = one.answer(.ofFleet())
        var claim = try await two.nextClaim()
        if claim.token.id != job.id { claim = try await two.nextClaim() }
        #expect(claim.token.id == job.id && claim.job.crashes == 1)
        isStill.set(false)
        #expect(await other == .success(.accepted))
        while !asked.values.contains(job.id) { _ = try await one.facts() }
        var answer: Settlement.Answer?
        while answer == nil {
            answer = try? await one.settle([Settlement(lost.token, .succeeded)], at: .present)[0]
        }
        #expect(answer == .stale)
        #expect(try await two.job(job.id)?.state == .running)
        #expect(
            try await two.settle([Settlement(claim.token, .succeeded)], at: .present) == [
                .applied(.succeeded)
            ]
        )
        await one.close()
        await two.close()
    }

    @Test("Two nodes that go on with one run at once act on each job once, and count each")
    func run() async throws {
        let nodes = try await Nodes()
        let stores = [try await nodes.open("one"), try await nodes.open("two")]
        var versions: [JobID: UInt64] = [:]
        for _ in 0..<60 {
            let job = NewJob.ofFleet()
            #expect(await stores[0].answer(job) == .success(.accepted))
            let claim = try await stores[0].nextClaim()
            _ = try await stores[0].settle([Settlement(claim.token, .dead(.rejected))], at: .present)
            versions[job.id] = try await stores[0].job(job.id)?.version
        }
        var filter = JobFilter()
        filter.states = [.dead]
        let begun = try await stores[0].begin(ActionRun(.retry, filter, by: nil, at: 1), at: .present)
        let run = try #require(begun)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    while try await store.runs().first?.state == .running {
                        _ = try await store.advance(run.number, by: RunStep(limit: 7), at: .present)
                    }
                }
            }
            try await group.waitForAll()
        }
        for (id, version) in versions { #expect(try await stores[1].job(id)?.version == version + 1) }
        let count = try await stores[1].runs().first?.count
        #expect(count?.changed == 60 && count?.matched == 60)
        for store in stores { await store.close() }
    }
}
