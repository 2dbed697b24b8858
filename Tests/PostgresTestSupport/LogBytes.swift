import RelayBase

/// Bytes of a server's write-ahead log.
package struct LogBytes: Sendable {
    package let records: Int
    /// Images of whole pages, which a checkpoint makes the next writes leave.
    package let images: Int
}

extension PostgresServer {
    /// The place at which the log goes on, and the transactions that have written something.
    package func logPosition() throws -> (place: String, transactions: Int) {
        let words = try sql("SELECT pg_current_wal_insert_lsn(), pg_snapshot_xmax(pg_current_snapshot())")
            .parts(between: "|")
        guard words.count == 2, let transactions = Int(words[1]) else { throw ProgramError("no position") }
        return (String(words[0]), transactions)
    }

    /// The bytes of the log between two places.
    package func logBytes(from: String, to: String) throws -> LogBytes {
        let lines = try call(
            "pg_waldump",
            ["--stats", "-p", "\(folder)/data/pg_wal", "--start", from, "--end", to]
        )
        .parts(between: "\n")
        let words = (lines.last { $0.hasPrefix("Total") } ?? "").parts(between: " ").filter { !$0.isEmpty }
        guard words.count > 4, let records = Int(words[2]), let images = Int(words[4]) else {
            throw ProgramError("no sums of the log")
        }
        return LogBytes(records: records, images: images)
    }
}
