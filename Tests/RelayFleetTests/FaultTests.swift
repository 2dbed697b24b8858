import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A database that fails costs no job", .timeLimit(.minutes(2)))
struct FaultTests {
    private static func job(_ number: UInt64) -> NewJob {
        let id = JobID(milliseconds: JobMoment.present.wall, random: (9, number))
        return NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: .bytes([1]))
    }

    /// The answer of the store for a job.
    private static func offer(
        _ job: NewJob,
        to store: PostgreSQLJobStore
    ) async -> Result<EnqueueResult, StoreError> {
        do throws(StoreError) {
            return .success(try await store.enqueue([job], at: .present)[0])
        } catch { return .failure(error) }
    }

    @Test(
        "While the server is down a job is refused as unavailable, and kept again when it is back",
        arguments: [PostgresServer.Stop.fast, .immediate]
    )
    func down(stop: PostgresServer.Stop) async throws {
        let nodes = try await Nodes(PostgresServer.make())
        let store = try await nodes.open("one")
        let before = Self.job(1)
        #expect(try await store.enqueue([before], at: .present) == [.accepted])
        try await offPool { try nodes.server.stop(stop) }
        guard case .failure(let error) = await Self.offer(Self.job(2), to: store) else {
            Issue.record("a job was accepted by a server that is down")
            return
        }
        #expect(error.code == .unavailable)
        #expect(try await store.facts().absence != nil)
        try await offPool { try nodes.server.start() }
        var after = Self.job(3)
        var number: UInt64 = 3
        try await until {
            if case .success(let result) = await Self.offer(after, to: store) {
                #expect(result == .accepted)
                return true
            }
            number += 1
            after = Self.job(number)
            return false
        }
        #expect(try await store.job(before.record.id)?.state == .queued)
        #expect(try await store.job(after.record.id)?.state == .queued)
        #expect(try await store.facts().absence == nil)
        await store.close()
    }

    @Test("Of jobs whose connections are cut while they are accepted, those are there that were said to be")
    func cut() async throws {
        let nodes = try await Nodes(PostgresServer.make())
        let store = try await nodes.open("one")
        let (said, refused) = (Notes<JobID>(), Notes<JobID>())
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for submitter in 0..<4 as Range<UInt64> {
                group.addTask {
                    // As many as it takes for a cut to meet one, and to miss one.
                    for index in 0..<1_000 as Range<UInt64>
                    where index < 60 || refused.values.isEmpty || said.values.isEmpty {
                        let job = Self.job(submitter * 10_000 + index)
                        switch await Self.offer(job, to: store) {
                        case .success: said.add([job.record.id])
                        case .failure(let error):
                            // Of one that nobody knows of nothing is said.
                            if error.code != .unknown { refused.add([job.record.id]) }
                        }
                    }
                }
            }
            group.addTask { try await nodes.cutConnections { !isOver.isSet } }
            for _ in 0..<4 { try await group.next() }
            isOver.set()
            try await group.waitForAll()
        }
        // The last cut may lie behind the last job.
        try await until { await store.opened(within: .zero) == nil }
        var there: Set<JobID> = []
        try await until {
            let page = try? await store.jobs(JobFilter(), order: .oldestFirst, limit: 1_000, after: nil)
            there = Set(page?.jobs.map(\.record.id) ?? [])
            return page != nil
        }
        #expect(Set(said.values).isSubset(of: there))
        #expect(there.isDisjoint(with: refused.values))
        #expect(
            !said.values.isEmpty && !refused.values.isEmpty,
            "\(said.values.count), \(refused.values.count)"
        )
        await store.close()
    }
}
