import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A list by cursor misses no job that was committed late", .timeLimit(.minutes(1)))
struct LateCommitTests {
    private func job(_ number: UInt64) -> NewJob {
        let id = JobID(milliseconds: JobMoment.present.wall, random: (9, number))
        return NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: .bytes([1]))
    }

    @Test("The oldest come first although a later one was committed before them")
    func late() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.open("one"), try await nodes.open("two"))
        let (early, late) = (job(1), job(2))
        // One that waits has its position, and stops in its COMMIT.
        let halt = try await Halt(nodes, "job_0", when: "NEW.state = 1", inCommit: true)
        async let accepted = one.enqueue([early], at: .present)
        _ = try await halt.reached()
        var running = late
        running.upstream = "eu"
        let first = try await two.enqueue([running], at: .present)
        #expect(first.allSatisfy { if case .running = $0 { true } else { false } })
        let read = Notes<Bool>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let page = try await two.jobs(JobFilter(), order: .oldestFirst, limit: 1, after: nil)
                read.add([true])
                #expect(page.jobs.map(\.record.id) == [early.record.id])
                let rest = try await two.jobs(JobFilter(), order: .oldestFirst, limit: 9, after: page.next)
                #expect(rest.jobs.map(\.record.id) == [late.record.id])
            }
            group.addTask {
                let looks = """
                    SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waystation'
                    AND query LIKE '%SCHEMA.job WHERE seq%'
                    """
                try await until { try await nodes.sql(looks) != 0 || !read.values.isEmpty }
                try await halt.letGo()
            }
            try await group.waitForAll()
        }
        #expect(try await accepted == [.accepted])
        await one.close()
        await two.close()
    }
}
