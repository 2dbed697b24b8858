import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Attempts are on record before they are sent", .timeLimit(.minutes(5)))
struct BeginTests {
    @Test("A store of the version before keeps its jobs, and those in flight have no attempt to tell of")
    func migrated() async throws {
        let bench = try await SQLiteBench()
        let waiting = try await bench.accept()
        let dead = try await bench.accept("r")
        try await bench.settle(try await bench.claim("r")[0], .dead(.rejected), kind: "http_status")
        let flying = try await bench.accept("q")
        _ = try await bench.claim("q")
        try await bench.rearrange()
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            let seq = try #require(try database.seq(of: flying))
            var row = try #require(try database.jobRow(seq))
            row.machine.begun = nil
            try database.execute(
                """
                \(SQLiteBench.fifthLayout)
                UPDATE job SET upstream = NULL, began = NULL, sum = \(row.sum) WHERE seq = \(seq);
                ALTER TABLE job DROP COLUMN upstream; ALTER TABLE job DROP COLUMN began;
                ALTER TABLE job DROP COLUMN status;
                DROP INDEX job_route; DROP INDEX job_failed; DROP TABLE action;
                PRAGMA user_version = 1
                """
            )
        }
        try await bench.reopen()
        #expect(try await bench.job(dead).end == .rejected)
        #expect(try await bench.job(dead).attempts == 1)
        #expect(try await bench.job(flying).state == .queued)
        #expect(try await bench.job(flying).attempts == 0)
        #expect(try await bench.claim().map(\.token.id) == [waiting])
        #expect(try await bench.job(waiting).begun?.upstream == "eu")
    }
}
