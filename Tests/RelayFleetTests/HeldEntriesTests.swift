import PostgresTestSupport
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite(
    "Entries of claimed jobs that a snapshot keeps in the database are passed over",
    .timeLimit(.minutes(5))
)
struct HeldEntriesTests {
    private static let entries: Int64 = 30_000
    private static let looks = 60

    /// Makes jobs that were claimed and settled, of which each left an entry where it waited for its turn, and one, deleted
    /// since, where it waited for its time.
    private static func live(_ nodes: Nodes) async throws {
        let text = nodes.named(
            """
            WITH j AS (INSERT INTO SCHEMA.job_0(slot, seq, id, route, created, state, standing, record)
            SELECT 0, nextval('SCHEMA.seq'), gen_random_uuid(), 1, 0, 1, '', '' FROM generate_series(1, \(entries))
            RETURNING seq),
            c AS (INSERT INTO SCHEMA.change_0(slot, seq, n, at, state, token, standing) SELECT 0, seq, 1, 0, 5, 1, '' FROM j),
            d AS (INSERT INTO SCHEMA.deferred(due, seq, n, slot, route, party, urgency, standing, minute, state)
            SELECT seq, seq, 0, 0, 1, 0, 0, '', 0, 3 FROM j)
            INSERT INTO SCHEMA.ready_0(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
            SELECT 0, 1, 0, 0, seq, seq, 0, 0, '', 0, 1 FROM j; DELETE FROM SCHEMA.deferred WHERE due < 1000000000
            """
        )
        let server = nodes.server
        _ = try await offPool { try server.sql(text) }
    }

    @Test("Looks at what waits read few of them, at any number of looks")
    func passedOver() async throws {
        let nodes = try await Nodes(.make())
        let first = try await nodes.open("one")
        #expect(await first.answer(.ofFleet()) == .success(.accepted))
        await first.close()
        let holder = try await nodes.session()
        try await holder.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        try await holder.run(nodes.named("SELECT count(*) FROM SCHEMA.deferred"))
        try await Self.live(nodes)
        let before = try await nodes.entriesRead()
        let store = try await nodes.open("one")
        for _ in 0..<Self.looks / 2 {
            let counters = try await store.counters(at: .present, withDue: true)
            #expect(counters.due["hooks"] != nil && counters.count(.queued, of: "hooks") == 1)
        }
        #expect(try await store.nextClaim().attemptNumber == 1)
        #expect(await store.answer(.ofFleet { $0.due = .after(.seconds(3_600)) }) == .success(.accepted))
        for _ in 0..<Self.looks / 2 {
            let batch = try await store.claim("hooks", limit: 1, upstream: "eu", at: .present)
            #expect(batch.claims.isEmpty && batch.nextDue != nil)
        }
        await store.close()
        let read = try await nodes.entriesRead() - before
        print("\(read) entries read by \(Self.looks) looks beside \(Self.entries) of claimed jobs")
        #expect(read < Self.entries * Int64(Self.looks) / 2)
        holder.end()
    }
}
