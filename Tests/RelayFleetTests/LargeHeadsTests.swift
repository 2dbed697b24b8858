import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPostgres
import Testing

@Suite("Jobs with large heads", .timeLimit(.minutes(3)))
struct LargeHeadsTests {
    @Test(
        "Lists of a thousand jobs with 32 KiB of fields, and counts of those that failed, stay within an answer's bound"
    )
    func bounded() async throws {
        let nodes = try await Nodes()
        let role = "reader_of_\(nodes.schema)"
        let session = try await nodes.session()
        defer { session.end() }
        try await session.run("CREATE ROLE \(role) LOGIN PASSWORD 'once'")
        for grant in FleetSchema(nodes.schema).grants(to: role) { try await session.run(grant) }
        // An answer's bound is that of a network: a socket of the machine has none.
        let store = try await nodes.open("one", user: role) {
            ($0.database.host, $0.database.password) = ("127.0.0.1", { "once" })
            $0.database.limits.answer = 16 << 20
        }
        var fields = HeaderFields()
        for name in "abcdefgh" { fields.append("x-\(name)", String(repeating: "y", count: 4_096)) }
        let jobs = (0..<1_000).map { _ in NewJob.ofFleet { $0.record.fields = fields } }
        for start in stride(from: 0, to: jobs.count, by: 50) {
            let some = Array(jobs[start..<start + 50])
            #expect(try await store.enqueue(some, at: .present).allSatisfy { $0 == .accepted })
        }
        let ids = Set(jobs.map(\.id))
        for order in [ListOrder.newestFirst, .oldestFirst] {
            for (filter, limit) in filters(jobs) {
                var (found, cursor, pages): ([JobID], JobCursor?, Int) = ([], nil, 0)
                repeat {
                    let page = try await store.jobs(filter, order: order, limit: limit, after: cursor)
                    #expect(page.jobs.allSatisfy { $0.record.fields.count == 8 })
                    found += page.jobs.map(\.record.id)
                    (cursor, pages) = (page.next, pages + 1)
                } while cursor != nil && pages <= jobs.count
                #expect(found.count == jobs.count && Set(found) == ids)
            }
        }
        let failures = try await store.failures(of: "hooks", at: .present)
        #expect(failures.isEmpty)
        let ending = try await store.ending(by: JobMoment.present.wall, of: ["hooks"])
        #expect(ending.isEmpty)
        await store.close()
    }

    /// All of them, those of a route, and each by its id.
    private func filters(_ jobs: [NewJob]) -> [(JobFilter, Int)] {
        var (byRoute, byID) = (JobFilter(), JobFilter())
        byRoute.route = "hooks"
        byID.ids = jobs.map(\.id)
        return [(JobFilter(), 500), (byRoute, 500), (byID, 500)]
    }
}
