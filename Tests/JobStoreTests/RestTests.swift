import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store says for how long it has nothing to do", .timeLimit(.minutes(5)))
struct RestTests {
    private static let day: Duration = .seconds(86_400)

    /// Sweeps, and again where that did anything: it does not look for the rest then.
    ///
    /// The store then says that so much time has to pass before there is anything to see to again, or that it does not
    /// know.
    private func sweep(
        _ bench: any StoreUnderTest,
        _ kind: StoreKind,
        _ retention: Retention = Retention(),
        thenRests rest: Duration? = nil
    ) async throws -> SweepReport {
        let report = try await bench.sweep(retention)
        var idle = report.idleTime
        for _ in 0..<3 where idle == .zero { idle = try await bench.sweep(retention).idleTime }
        guard let rest else { return report }
        if kind.capabilities.contains(.rests) {
            #expect(idle > rest - .milliseconds(bench.tick) && idle <= rest)
        } else {
            #expect(idle == .zero)
        }
        return report
    }

    @Test(
        "A job that waits for its time ends the rest, and a sweep then sees to it",
        arguments: StoreKind.all
    )
    func due(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let delayed = try await bench.accept { $0.due = .after(.seconds(60)) }
        _ = try await sweep(bench, kind, thenRests: .seconds(60))
        let expiring = try await bench.accept {
            $0.due = .after(.seconds(90))
            $0.expiresAfter = .seconds(50)
        }
        try await bench.advance(by: 10_000)
        _ = try await sweep(bench, kind, thenRests: .seconds(40))
        try await bench.advance(by: 40_000)
        let report = try await sweep(bench, kind, thenRests: .seconds(10))
        #expect(report.ended.map(\.id) == [expiring])
        try await bench.advance(by: 10_000)
        _ = try await sweep(bench, kind)
        #expect(try await bench.state(delayed) == .queued)
    }

    @Test(
        "A job that is over ends the rest when its bodies go, and when it goes itself",
        arguments: StoreKind.all
    )
    func retention(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var retention = Retention()
        (retention.dead, retention.bodies) = (.seconds(7_200), .seconds(3_600))
        let dead = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        let hour: Duration = .seconds(3_600)
        _ = try await sweep(bench, kind, retention, thenRests: hour)
        try await bench.advance(by: 3_600_000)
        #expect(try await sweep(bench, kind, retention, thenRests: hour).expunged == 1)
        #expect(try await bench.store.body(of: dead) == .expunged)
        try await bench.advance(by: 3_600_000)
        #expect(try await sweep(bench, kind, retention, thenRests: Self.day).removed == 1)
        #expect(try await bench.store.job(dead) == nil)
    }
}
