import RelayBase
import RelayCore
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Nobody has to ask for the end of a job that ended by itself", .timeLimit(.minutes(5)))
struct EndedTests {
    private func ended(
        _ id: JobID,
        _ state: JobState,
        _ end: EndReason,
        after attempts: Int = 0,
        _ cause: JobChange.Cause = .store
    ) -> String {
        JobChange(
            id: id,
            route: "hooks",
            user: 7,
            state: state,
            end: end,
            attemptCount: attempts,
            cause: cause
        ).text
    }

    private func accept(
        _ bench: SQLiteBench,
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> JobID {
        try await bench.accept {
            $0.record.submitter = JobRecord.Submitter(user: 7, unit: nil)
            change(&$0)
        }
    }

    @Test("A job whose record a claim finds damaged is told", arguments: [true, false])
    func corrupt(isPlain: Bool) async throws {
        let bench = try await SQLiteBench()
        let id = try await accept(bench) { $0.body = .bytes(Array(SQLiteBench.unremembered.utf8)) }
        if !isPlain { try await bench.rearrange() }
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
        try database.execute(
            isPlain ? "UPDATE plain SET record = record || x'00'" : "UPDATE payload SET sum = sum + 1"
        )
        #expect(try await bench.claim().isEmpty)
        #expect(try await bench.ended() == [ended(id, .dead, .corrupt)])
        guard isPlain else {
            #expect(try await bench.job(id).end == .corrupt)
            return
        }
        // Nothing of it is to be believed.
        await #expect(throws: StoreError.self) { try await bench.store.job(id) }
        try await bench.reopen()
        #expect(try await bench.ended() == [ended(id, .dead, .corrupt)])
        #expect(try await bench.claim().isEmpty)
    }
}
