import PostgresTestSupport
import RelayFleet
import RelayFleetBench
import RelayJobs

/// Prints what a life costs the database.
func costs(seconds: Int64) async throws {
    let nodes = try await Nodes(PostgresServer.make())
    // The log is read once the time is over.
    try nodes.server.sql("ALTER SYSTEM SET wal_keep_size = '8GB'")
    try nodes.server.sql("SELECT pg_reload_conf()")
    let store = try await nodes.open("one")
    for submitters in [1, 64, 256] {
        let before = (try await store.facts().statements, try nodes.server.logPosition())
        let count = try await lives(store, submitters: submitters, seconds: seconds)
        let after = (try await store.facts().statements, try nodes.server.logPosition())
        let log = try nodes.server.logBytes(from: before.1.place, to: after.1.place)
        print(
            "\(submitters) in flight: \(count / Int(seconds)) lives/s; a life:",
            "\(Double(after.0 - before.0) / Double(count)) statements,",
            "\(Double(after.1.transactions - before.1.transactions) / Double(count)) transactions,",
            "\(log.records / count) bytes of the log beside \(log.images / count) of images"
        )
    }
    await store.close()
}
