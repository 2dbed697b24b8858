import RelayBase
import RelayCore
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Nobody has to ask for the end of a job that ended by itself", .timeLimit(.minutes(5)))
struct EndedTests {
    @Test("A job whose record a claim finds damaged is told", arguments: [true, false])
    func corrupt(isPlain: Bool) async throws {
        let bench = try await SQLiteBench()
        let id = try await bench.acceptOfUser { $0.body = .bytes(Array(SQLiteBench.unremembered.utf8)) }
        if !isPlain { try await bench.rearrange() }
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
        try database.execute(
            isPlain ? "UPDATE plain SET record = record || x'00'" : "UPDATE payload SET sum = sum + 1"
        )
        #expect(try await bench.claim().isEmpty)
        #expect(try await bench.ended() == [bench.end(id, .dead, .corrupt)])
        guard isPlain else {
            #expect(try await bench.job(id).end == .corrupt)
            return
        }
        // Nothing of it is to be believed.
        await #expect(throws: StoreError.self) { try await bench.store.job(id) }
        try await bench.reopen()
        #expect(try await bench.ended() == [bench.end(id, .dead, .corrupt)])
        #expect(try await bench.claim().isEmpty)
    }
}
