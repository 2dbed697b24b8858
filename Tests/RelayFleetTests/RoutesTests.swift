import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import Testing

@Suite("A job whose route a node lacks is left to those that have it", .timeLimit(.minutes(2)))
struct RoutesTests {
    private static let lease: Duration = .milliseconds(1_500)

    private static func sweep(_ store: PostgreSQLJobStore) async throws {
        _ = try await store.sweep(Retention(), limit: 100, at: .present)
    }

    @Test("It is held where no node that lives has the route, and goes on once one has it again")
    func lacking() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one", lease: Self.lease)
        let two = try await nodes.open("two", lease: Self.lease)
        one.serve(["hooks"])
        two.serve(["others"])
        let id = JobID(milliseconds: JobMoment.present.wall, random: (6, 1))
        let job = NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: .bytes([1]))
        #expect(try await one.enqueue([job], at: .present) == [.accepted])
        var facts = StoreFacts()
        while facts.routesElsewhere != ["hooks"], !Task.isCancelled {
            _ = try await two.counters(at: .present, withDue: false)
            facts = try await two.facts()
        }
        #expect(facts.nodes == 2)
        try await Self.sweep(two)
        #expect(try await two.job(id)?.state == .queued)
        await one.close()
        while try await two.job(id)?.state == .queued, !Task.isCancelled { try await Self.sweep(two) }
        #expect(try await two.job(id)?.state == .held)
        #expect(try await two.job(id)?.reason == .routeRemoved)
        _ = try await two.counters(at: .present, withDue: false)
        #expect(try await two.facts().routesElsewhere.isEmpty)
        // A job that somebody has put aside stays so.
        let put = JobID(milliseconds: JobMoment.present.wall, random: (6, 2))
        var other = job
        other.record.id = put
        #expect(try await two.enqueue([other], at: .present) == [.accepted])
        let order = ActionOrder(.hold, JobFilter(ids: [put]), limit: 1, by: .user(nil, isBulk: false))
        #expect(try await two.apply(order, at: .present).changes.count == 1)
        let back = try await nodes.open("one", lease: Self.lease)
        back.serve(["hooks"])
        while try await back.job(id)?.state == .held, !Task.isCancelled { try await Self.sweep(back) }
        #expect(try await back.job(id)?.state == .queued)
        #expect(try await back.job(put)?.state == .held)
        for _ in 0..<3 { try await Self.sweep(two) }
        #expect(try await two.job(id)?.state == .queued)
        await back.close()
        await two.close()
    }
}
