import PostgresTestSupport
import RelayFleet
import RelayFleetBench
import RelayJobs

/// By turns, a node whose database has nothing else, and one in whose database so many jobs of another route wait, as for an
/// upstream that is away: nine in ten to be claimed, the others for their time.
func besideWaiting(_ count: Int, seconds: Int64, rounds: Int) async throws -> Bool {
    let server = try await PostgresServer.make()
    let (full, empty) = (try await Nodes(server), try await Nodes(server))
    let stores = [try await full.open("full"), try await empty.open("empty")]
    let job = NewJob.ofFleet {
        $0.record.route = "away"
        $0.body = .bytes([UInt8](repeating: 106, count: 512))
    }
    guard try await stores[0].enqueue([job], at: .present) == [.accepted] else { fatalError("not accepted") }
    try server.sql(
        full.named(
            """
            WITH one AS (SELECT j.*, r.k, r.urgency, r.due, r.n, r.standing AS stood, r.minute, r.state AS waits
            FROM SCHEMA.job j JOIN SCHEMA.ready r USING (slot, seq) LIMIT 1),
            many AS MATERIALIZED (SELECT one.*, nextval('SCHEMA.seq') AS position, i % 10 = 0 AS later FROM one,
            generate_series(2, \(count)) i),
            j AS (INSERT INTO SCHEMA.job(slot, seq, id, route, created, party, state, generation, standing, record, body)
            SELECT slot, position, gen_random_uuid(), route, created, party, state, generation, standing, record, body FROM many),
            r AS (INSERT INTO SCHEMA.ready(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
            SELECT k, route, party, urgency, due, position, n, slot, stood, minute, waits FROM many WHERE NOT later),
            d AS (INSERT INTO SCHEMA.deferred(due, seq, n, slot, route, party, urgency, standing, minute, state)
            SELECT due + 36000000, position, n, slot, route, party, urgency, stood, minute, waits FROM many WHERE later)
            INSERT INTO SCHEMA.tally(k, route, party, state, minute, delta)
            SELECT k, route, party, state, minute, \(count - 1) FROM SCHEMA.tally WHERE delta > 0
            """
        )
    )
    try server.sql("VACUUM ANALYZE")
    try server.sql("CHECKPOINT")
    let waiting = try await stores[0].counters(at: .present, withDue: false).counts
        .reduce(0) { $0 + ($1.key.state == .queued ? $1.value : 0) }
    guard waiting == count else { fatalError("\(waiting) jobs wait") }
    var ratios: [Double] = []
    for round in 0..<rounds {
        var counts = [0, 0]
        for index in round % 2 == 0 ? [0, 1] : [1, 0] {
            counts[index] = try await lives(stores[index], submitters: 64, seconds: seconds)
        }
        ratios.append(Double(counts[0]) / Double(counts[1]))
        print(
            "\(count) waiting: \(counts[0] / Int(seconds)) lives/s; none: \(counts[1] / Int(seconds)) lives/s"
        )
    }
    for store in stores { await store.close() }
    print("with \(count) waiting \(median(ratios)) × (aim 0.85 ×)")
    return median(ratios) < 0.85
}
