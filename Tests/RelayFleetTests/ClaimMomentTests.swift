import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job with a key is changed in the very moment of its claim", .timeLimit(.minutes(2)))
struct ClaimMomentTests {
    private static func claims(_ store: PostgreSQLJobStore) async throws -> [JobID] {
        try await store.claim("hooks", limit: 9, upstream: "eu", at: .present).claims.map(\.token.id)
    }

    @Test(
        "An action that comes second acts on the job that runs, and the next of its key waits",
        arguments: [JobAction.cancel, .drop]
    )
    func action(action: JobAction) async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        let jobs = (0..<2).map { _ in NewJob.ofFleet { $0.record.orderingKey = "o" } }
        for job in jobs { #expect(await store.answer(job) == .success(.accepted)) }
        // It has read the job that waits, and is about to write what becomes of it.
        let halt = try await Halt(nodes, "change_0", when: "NEW.upstream IS NULL", inCommit: false)
        async let report = store.apply(action, to: jobs[0].id)
        _ = try await halt.reached()
        let claim = try await store.nextClaim()
        #expect(claim.token.id == jobs[0].id)
        try await halt.letGo()
        let told = try await report
        #expect(told.changes.allSatisfy { $0.state == .running })
        #expect(told.asked == (action == .cancel ? [jobs[0].id] : []))
        #expect(try await store.job(jobs[0].id)?.state == .running)
        #expect(try await Self.claims(store).isEmpty)
        let answer = try await store.settle([Settlement(claim.token, .succeeded)], at: .present)
        #expect(answer == [.applied(.succeeded)])
        #expect(try await store.nextClaim().token.id == jobs[1].id)
        await store.close()
    }

    @Test("A newer job of its supersede key waits for its end")
    func superseded() async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        let jobs = (0..<2).map { _ in NewJob.ofFleet { $0.record.supersedeKey = "k" } }
        #expect(await store.answer(jobs[0]) == .success(.accepted))
        let halt = try await Halt(nodes, "change_0", when: "NEW.upstream IS NULL", inCommit: false)
        async let answer = store.answer(jobs[1])
        _ = try await halt.reached()
        let claim = try await store.nextClaim()
        #expect(claim.token.id == jobs[0].id)
        try await halt.letGo()
        #expect(await answer == .success(.accepted))
        #expect(try await store.job(jobs[0].id)?.state == .running)
        #expect(try await Self.claims(store).isEmpty)
        let end = Settlement(claim.token, .retry(after: .seconds(9), .backoff))
        #expect(try await store.settle([end], at: .present) == [.applied(.cancelled, .superseded)])
        #expect(try await store.nextClaim().token.id == jobs[1].id)
        await store.close()
    }
}
