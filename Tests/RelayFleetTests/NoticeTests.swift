import PostgresTestSupport
import RelayBase
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayFleet

@Suite("A notice and its ending are one transaction of the database", .timeLimit(.minutes(3)))
struct NoticeTests {
    /// The server refuses each notice with that SQLSTATE.
    private static func refuse(_ bench: PostgreSQLBench, _ state: String) async throws {
        let (server, schema) = (bench.server, bench.schema)
        _ = try await offPool {
            try server.sql(
                """
                CREATE FUNCTION "\(schema)".refusal() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION 'no notice' USING ERRCODE = '\(state)'; END$$;
                CREATE TRIGGER refusal BEFORE INSERT ON "\(schema)".job FOR EACH ROW EXECUTE FUNCTION "\(schema)".refusal();
                """
            )
        }
    }

    private static func allow(_ bench: PostgreSQLBench) async throws {
        let (server, schema) = (bench.server, bench.schema)
        _ = try await offPool { try server.sql("DROP FUNCTION \"\(schema)\".refusal CASCADE") }
    }

    private static let maker = {
        var maker = NoticeMaker()
        maker.wish = { _, _ in .notice(WholeJob.Extent(attempts: 1, hasBodies: false)) }
        maker.make = { whole in
            let id = whole.job.record.id
            return NewJob(
                JobRecord(
                    id: id.notice(whole.job.notices),
                    route: "hooks",
                    method: .post,
                    target: "",
                    submitter: .ofNotices,
                    isNotice: true
                )
            )
        }
        return maker
    }()

    private static func bench() async throws -> (PostgreSQLBench, JobID) {
        let bench = try await PostgreSQLBench()
        bench.news.makesNotices(by: maker)
        return (bench, try await bench.accept { $0.record.notifies = true })
    }

    @Test("A transaction that fails at the notice leaves the job as it was")
    func neither() async throws {
        let (bench, id) = try await Self.bench()
        let claim = try #require(try await bench.claim().first)
        try await Self.refuse(bench, "P0001")
        await #expect(throws: StoreError.self) { try await bench.settle(claim, .succeeded) }
        #expect(try await bench.job(id).state == .running)
        try await Self.allow(bench)
        #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded))
        #expect(try await bench.job(id.notice(1)).record.isNotice)
    }

    @Test("A notice that the server refuses is owed, and does not keep the job from ending")
    func refused() async throws {
        let (bench, id) = try await Self.bench()
        let claim = try #require(try await bench.claim().first)
        try await Self.refuse(bench, "22000")
        #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded))
        #expect(try await bench.job(id).owesNotice)
        // Sweeps go on with all else, and leave it owed.
        for _ in 0..<2 { _ = try await bench.sweep() }
        #expect(try await bench.store.facts().owedNotices == 1)
        try await Self.allow(bench)
        _ = try await bench.sweep()
        #expect(try await bench.job(id.notice(1)).record.isNotice)
        #expect(try await bench.store.facts().owedNotices == 0)
    }

    @Test("An ending that a version made which knows of no notices is told by the next sweep")
    func untold() async throws {
        let (bench, id) = try await Self.bench()
        _ = try await bench.apply(.cancel, id)
        // Its row as that version leaves it: without the mark, and without the notice.
        let (server, schema) = (bench.server, bench.schema)
        var machine = JobStateMachine(
            state: .cancelled,
            runAt: bench.now.wall,
            mayRepeat: true,
            isDated: false
        )
        (machine.end, machine.finishedAt) = (.cancelled, bench.now.wall)
        let digits = Array("0123456789abcdef")
        let standing = String(
            FleetStanding(machine).sealed(for: id).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        )
        _ = try await offPool {
            try server.sql(
                """
                UPDATE "\(schema)".change SET standing = '\\x\(standing)' WHERE seq = (SELECT min(seq) FROM "\(schema)".job);
                DELETE FROM "\(schema)".job WHERE seq > (SELECT min(seq) FROM "\(schema)".job)
                """
            )
        }
        #expect(try await bench.store.job(id.notice(1)) == nil)
        for _ in 0..<2 { _ = try await bench.sweep() }
        #expect(try await bench.job(id.notice(1)).record.isNotice)
    }

    /// A change as a version makes it that knows of no notices, on what is there now.
    private static func change(
        _ bench: PostgreSQLBench,
        _ id: JobID,
        _ change: (inout JobStateMachine) -> Void = { _ in }
    ) async throws {
        let job = try await bench.job(id)
        var machine = JobStateMachine(state: job.state, runAt: job.runAt, mayRepeat: true, isDated: false)
        (machine.end, machine.finishedAt, machine.version) = (job.end, job.finishedAt, job.version)
        change(&machine)
        machine.touch()
        try await write(bench, id, machine)
    }

    private static func write(_ bench: PostgreSQLBench, _ id: JobID, _ machine: JobStateMachine) async throws
    {
        let digits = Array("0123456789abcdef")
        func hex(_ bytes: [UInt8]) -> String {
            String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        }
        let number = [id.high, id.low].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
        }
        let (uuid, standing) = (hex(number), hex(FleetStanding(machine).sealed(for: id)))
        let (server, schema, state) = (bench.server, bench.schema, machine.state.rawValue)
        _ = try await offPool {
            try server.sql(
                """
                INSERT INTO "\(schema)".change(slot, seq, n, at, state, standing) SELECT slot, seq,
                1 + coalesce((SELECT max(n) FROM "\(schema)".change c WHERE c.seq = j.seq), 0), 0, \(state), '\\x\(standing)'
                FROM "\(schema)".job j WHERE id = '\(uuid)'
                """
            )
        }
    }

    private static func count(_ bench: PostgreSQLBench, _ query: String) async throws -> String {
        let (server, schema) = (bench.server, bench.schema)
        return try await offPool { try server.sql("SELECT count(*) FROM \"\(schema)\".\(query)") }
            .filter(\.isNumber)
    }

    /// A notice that comes now goes into another slot.
    private static func turn(_ bench: PostgreSQLBench) async throws {
        let (server, schema) = (bench.server, bench.schema)
        _ = try await offPool {
            try server.sql("UPDATE \"\(schema)\".ring SET head = (head + 1) % 3 WHERE name = 'job'")
        }
    }

    /// The rows of jobs behind the first.
    private static func notices(_ bench: PostgreSQLBench) async throws -> String {
        try await count(bench, "job WHERE seq > (SELECT min(seq) FROM \"\(bench.schema)\".job)")
    }

    @Test("A job that an older version has touched since its notice was made has no other one")
    func touched() async throws {
        let (bench, id) = try await Self.bench()
        _ = try await bench.apply(.cancel, id)
        try await Self.change(bench, id)
        try await Self.turn(bench)
        for _ in 0..<3 { _ = try await bench.sweep() }
        #expect(try await bench.job(id).notices == 1)
        #expect(try await Self.notices(bench) == "1")
    }

    @Test("An ending after an older version's retry has a notice of its own")
    func retriedElsewhere() async throws {
        let (bench, id) = try await Self.bench()
        _ = try await bench.apply(.cancel, id)
        try await Self.change(bench, id) { machine in
            (machine.state, machine.end, machine.finishedAt) = (.queued, nil, nil)
        }
        _ = try await bench.apply(.cancel, id)
        #expect(try await bench.job(id).notices == 2)
        #expect(try await bench.job(id.notice(2)).record.isNotice)
    }

    @Test(
        "What an older version leaves out of a job that owes its notice is found, or struck off where it was retried"
    )
    func owedElsewhere() async throws {
        let (bench, id) = try await Self.bench()
        let other = try await bench.accept { $0.record.notifies = true }
        bench.news.makesNotices(by: NoticeMaker())
        for id in [id, other] {
            _ = try await bench.apply(.cancel, id)
            #expect(try await bench.job(id).owesNotice)
        }
        try await Self.change(bench, id)
        try await Self.change(bench, other) { machine in
            (machine.state, machine.end, machine.finishedAt) = (.held, nil, nil)
        }
        bench.news.makesNotices(by: Self.maker)
        for _ in 0..<3 { _ = try await bench.sweep() }
        #expect(try await bench.job(id.notice(1)).record.isNotice)
        #expect(try await bench.store.facts().owedNotices == 0)
        #expect(try await Self.count(bench, "owed") == "0")
        #expect(try await bench.store.job(other.notice(1)) == nil)
    }

    @Test("A notice that another node has put into another slot is not made again")
    func otherSlot() async throws {
        let (bench, id) = try await Self.bench()
        _ = try await bench.apply(.cancel, id)
        try await bench.reopen()
        // Another node has seen it owed, and a ring that has turned.
        let job = try await bench.job(id)
        var machine = JobStateMachine(state: .cancelled, runAt: job.runAt, mayRepeat: true, isDated: false)
        (machine.end, machine.finishedAt, machine.version) = (.cancelled, job.finishedAt, job.version + 1)
        (machine.notifies, machine.notices, machine.isNoticeOwed) = (true, 1, true)
        try await Self.write(bench, id, machine)
        let (server, schema) = (bench.server, bench.schema)
        _ = try await offPool {
            try server.sql("INSERT INTO \"\(schema)\".owed SELECT min(seq) FROM \"\(schema)\".job")
        }
        try await Self.turn(bench)
        for _ in 0..<3 { _ = try await bench.sweep() }
        #expect(try await bench.job(id).owesNotice == false)
        #expect(try await Self.notices(bench) == "1")
    }
}
