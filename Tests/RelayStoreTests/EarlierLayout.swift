import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

extension SQLiteBench {
    /// The statements that make a closed store of the tenth layout one of the ninth.
    static let ninthLayout = """
        DROP TABLE owed;
        PRAGMA user_version = 9;

        """

    /// The same for one of the eighth.
    static let eighthLayout = """
        \(ninthLayout)
        DROP TABLE run;
        PRAGMA user_version = 8;

        """

    /// The same for one of the seventh.
    static let seventhLayout = """
        \(eighthLayout)
        UPDATE job SET lane = lane & 15 WHERE lane > 15;
        DELETE FROM meta WHERE k = 'unturned';
        PRAGMA user_version = 7;

        """

    /// The same of one all of whose jobs are unfolded, for one of the sixth.
    static let sixthLayout = """
        \(seventhLayout)
        CREATE UNIQUE INDEX job_id ON job(id);
        DROP TABLE id; DROP TABLE plain; DROP TABLE ended; DROP TABLE claimed; DROP TABLE zone;
        PRAGMA user_version = 6;

        """

    /// The same for one of the fifth.
    static let fifthLayout = """
        \(sixthLayout)
        DROP TABLE mark; DROP INDEX job_lane; DROP INDEX job_expires;
        ALTER TABLE job RENAME COLUMN lane TO ready; UPDATE job SET ready = NULL WHERE ready > 7;
        CREATE INDEX job_ready ON job(route, ready, run_at) WHERE ready IS NOT NULL;
        CREATE INDEX job_running ON job(state) WHERE state = 2;
        CREATE INDEX job_due ON job(route, run_at) WHERE state = 0;
        CREATE INDEX job_dated ON job(seq) WHERE date IS NOT NULL AND fin IS NULL;
        CREATE INDEX job_expires ON job(expires) WHERE expires IS NOT NULL AND fin IS NULL;
        CREATE INDEX job_supersede ON job(route, skey) WHERE skey IS NOT NULL AND fin IS NULL;
        CREATE INDEX job_failed ON job(route, kind, created) WHERE fin IS NULL AND kind IS NOT NULL;
        CREATE TABLE answer(seq INTEGER PRIMARY KEY, head BLOB NOT NULL, body BLOB, sum INTEGER);
        INSERT INTO answer SELECT key >> 16, head, body, sum FROM attempt WHERE head IS NOT NULL;
        DELETE FROM attempt WHERE key & 65535 = 0;
        ALTER TABLE attempt DROP COLUMN head; ALTER TABLE attempt DROP COLUMN body;
        ALTER TABLE attempt DROP COLUMN sum;
        PRAGMA user_version = 5;
        """
}

@Suite("A store of the fifth layout", .timeLimit(.minutes(5)))
struct EarlierLayoutTests {
    @Test("It keeps its answers, and every list leads to its jobs")
    func kept() async throws {
        let bench = try await SQLiteBench()
        let start = bench.now.wall
        let answered = try await bench.accept()
        let answer = StoredAnswer(
            status: 200,
            fields: HeaderFields(),
            body: .bytes(Array("yes".utf8)),
            source: .upstream
        )
        try await bench.settle(try await bench.claim()[0], .succeeded, answer: answer)
        let failing = try await bench.accept("failing")
        try await bench.settle(
            try await bench.claim("failing")[0],
            .retry(after: .seconds(3_600), .backoff),
            kind: "http_status"
        )
        let dated = try await bench.accept("dated") { $0.due = .date(start + 7_200_000) }
        let older = try await bench.accept("latest") { $0.record.supersedeKey = "k" }
        let expiring = try await bench.accept("expiring") { $0.expiresAfter = .seconds(5) }
        let flying = try await bench.accept("flying") { $0.record.mayRepeat = true }
        _ = try await bench.claim("flying")
        try await bench.rearrange()
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(SQLiteBench.fifthLayout)
        }
        try await bench.reopen()

        #expect(try await bench.store.answer(of: answered)?.body == .bytes(Array("yes".utf8)))
        #expect(try await bench.store.attempts(of: answered, after: 0, limit: 9).count == 1)
        #expect(
            try await bench.store.failures(of: "failing", at: bench.now).keys.map(\.rawValue) == [
                "http_status"
            ]
        )
        #expect(try await bench.job(failing).attempts == 1)
        #expect(try await bench.state(flying) == .retrying)
        #expect(try await bench.job(flying).attempts == 1)
        try await bench.accept("latest") { $0.record.supersedeKey = "k" }
        #expect(try await bench.job(older).end == .superseded)
        try await bench.advance(by: 10_000)
        _ = try await bench.store.sweep(Retention(), limit: 10, at: bench.now)
        #expect(try await bench.state(expiring) == .expired)
        #expect(try await bench.claim("dated").isEmpty)
        bench.stepWall(by: 7_200_000)
        #expect(try await bench.claim("dated").map(\.token.id) == [dated])
    }
}
