import RelayBase
import RelayPostgres

extension StoreError {
    /// The store is away; it comes back by itself, or when somebody has done what the words say.
    static func away(_ call: String, _ why: String) -> StoreError {
        StoreError(.unavailable, "cannot \(call) in the database: \(why)")
    }

    /// The error for a batch that failed.
    ///
    /// The classes of SQLSTATE are those of appendix A of PostgreSQL's manual.
    init(_ call: String, _ error: PostgresError) {
        switch error.sqlState {
        case "53100"?:
            self.init(.full, "cannot \(call) in the database: its disk is full; make room there")
        case "53300"?:
            self = .away(call, "it has as many connections as it allows; raise max_connections or end others")
        case "57014"?:
            self = .away(
                call,
                "the statement took too long and was cancelled; see what the server is busy with"
            )
        case "42501"?:
            self = .away(
                call,
                "the role lacks a right; run the GRANTs that `waystation store migrate` prints"
            )
        case "3F000"?, "42P01"?, "42703"?, "42883"?:
            self = .away(call, "a table is missing; run `waystation store migrate`")
        case "25006"?:
            self = .away(call, "the server takes no writes: it is a standby, or has become one")
        case "57P01"?, "57P02"?, "57P03"?:
            self = .away(call, "the server stops, or starts and takes nothing yet")
        case "55P03"?:
            self = .away(call, "a table is locked by somebody else; see pg_locks for who")
        case "XX001"?, "XX002"?:
            // It may be mended there, or after a failover be another server's: what runs is settled then.
            self = .away(call, "the server says that its data is damaged")
        default: self = .away(call, error.message)
        }
    }
}

extension StoreError {
    /// The same for a write, of which nobody may know whether it was done.
    init(writing call: String, _ error: PostgresError) {
        self.init(call, error)
        if error.isUnknown { code = .unknown }
    }
}

extension PostgresError {
    /// Whether one row of the batch may be to blame, so that the others go on without it: what is wrong with data, a
    /// constraint or a limit (classes 22, 23 and 54).
    var blamesRow: Bool {
        kind == .refused && ["22", "23", "54"].contains { sqlState?.hasPrefix($0) == true }
    }
}
