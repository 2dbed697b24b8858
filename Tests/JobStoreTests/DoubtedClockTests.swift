import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A clock that jumps at a start ends nothing before it is believed", .timeLimit(.minutes(5)))
struct DoubtedClockTests {
    private static let hour: Int64 = 3_600_000
    private static let year = 365 * 24 * hour
    private var retention: Retention {
        var retention = Retention()
        retention.dead = .seconds(14 * 24 * 3_600)
        retention.succeeded = .seconds(14 * 24 * 3_600)
        return retention
    }

    /// A bench with a job that expires in two days, and one that has died.
    private func bench(
        _ kind: StoreKind
    ) async throws -> (bench: any StoreUnderTest, waiting: JobID, dead: JobID) {
        let bench = try await kind.open()
        let dead = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        let waiting = try await bench.accept("waiting") { $0.expiresAfter = .seconds(48 * 3_600) }
        return (bench, waiting, dead)
    }

    private func sweep(_ bench: any StoreUnderTest) async throws {
        while try await bench.store.sweep(retention, limit: 100, at: bench.now).hasMore {}
    }

    private func expectKept(_ bench: any StoreUnderTest, _ waiting: JobID, _ dead: JobID) async throws {
        try await sweep(bench)
        #expect(try await bench.state(waiting) == .queued)
        #expect(try await bench.state(dead) == .dead)
    }

    @Test(
        "A start a year behind moves nothing, and the next one, right again, neither",
        arguments: StoreKind.all([.survives, .wallSteps])
    )
    func behind(kind: StoreKind) async throws {
        let (bench, waiting, dead) = try await bench(kind)
        let (expiresAt, finishedAt) = (
            try await bench.job(waiting).expiresAt, try await bench.job(dead).finishedAt
        )
        try await bench.reopen(after: -Self.year)
        try await bench.advance(by: 60_000)
        try await expectKept(bench, waiting, dead)
        try await bench.reopen(after: Self.year)
        try await expectKept(bench, waiting, dead)
        #expect(abs(try #require(try await bench.job(dead).finishedAt) - #require(finishedAt)) < 70_000)
        #expect(abs(try #require(try await bench.job(waiting).expiresAt) - #require(expiresAt)) < 70_000)
        try await bench.advance(by: StoreClock.belief)
        try await expectKept(bench, waiting, dead)
        #expect(try await bench.claim("waiting").count == 1)
    }

    @Test(
        "A start a year ahead expires, sends and removes nothing; a clock that is set right then has done no harm",
        arguments: StoreKind.all([.survives, .wallSteps])
    )
    func ahead(kind: StoreKind) async throws {
        let (bench, waiting, dead) = try await bench(kind)
        try await bench.reopen(after: Self.year)
        try await bench.advance(by: StoreClock.belief - 1_000)
        try await expectKept(bench, waiting, dead)
        // It may have expired: it must not be sent, either.
        #expect(try await bench.claim("waiting").isEmpty)
        bench.stepWall(by: -Self.year)
        try await expectKept(bench, waiting, dead)
        try await bench.advance(by: StoreClock.belief)
        try await expectKept(bench, waiting, dead)
        #expect(try await bench.claim("waiting").map(\.token.id) == [waiting])
        try await bench.reopen()
        try await sweep(bench)
        #expect(try await bench.state(dead) == .dead)
    }

    @Test(
        "After a year in which nobody started it, all that is over by then ends once the clock is believed, and nothing new",
        arguments: StoreKind.all([.survives, .wallSteps]),
        [false, true]
    )
    func away(kind: StoreKind, isRestarted: Bool) async throws {
        let (bench, waiting, dead) = try await bench(kind)
        try await bench.reopen(after: Self.year)
        let key = NewJob.Idempotency(user: 1, key: "k", fingerprint: [1], window: .seconds(3_600))
        let new = try await bench.accept("new") {
            $0.expiresAfter = .seconds(3_600)
            $0.idempotency = key
        }
        let done = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .succeeded)
        let lost = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        #expect(try await bench.job(done).finishedAt == bench.now.wall)
        #expect(try await bench.job(new).expiresAt == bench.now.wall + Self.hour)
        try await expectKept(bench, waiting, dead)
        if isRestarted { try await bench.reopen() }
        try await bench.advance(by: StoreClock.belief)
        try await sweep(bench)
        #expect(try await bench.job(waiting).state == .expired)
        #expect(try await bench.store.job(dead) == nil)
        #expect(try await bench.state(new) == .queued)
        #expect(try await bench.state(done) == .succeeded)
        #expect(try await bench.state(lost) == .dead)
        var again = bench.newJob("new")
        again.idempotency = key
        #expect(try await bench.store.enqueueOne(again, at: bench.now) == .duplicate(new))
        #expect(try await bench.claim("new").map(\.token.id) == [new])
    }

    @Test(
        "A job whose end is in doubt stays in its queue while one behind it is claimed",
        arguments: StoreKind.all([.survives, .wallSteps])
    )
    func postponed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let doubtful = try await bench.accept { $0.expiresAfter = .seconds(5 * 3_600) }
        let labelled = try await bench.accept { $0.record.labels = ["a=b"] }
        try await bench.reopen(after: 6 * Self.hour)
        try await bench.advance(by: 1_000)
        #expect(try await bench.claim("hooks", 2).map(\.token.id) == [labelled])
        bench.stepWall(by: -4 * Self.hour)
        try await bench.advance(by: StoreClock.belief)
        #expect(try await bench.claim("hooks", 2).map(\.token.id) == [doubtful])
    }

    @Test("Two hours are taken at a start's word", arguments: StoreKind.all([.survives, .wallSteps]))
    func short(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept { $0.expiresAfter = .seconds(7_200) }
        try await bench.reopen(after: StoreClock.certain)
        try await sweep(bench)
        #expect(try await bench.state(id) == .expired)
    }
}
