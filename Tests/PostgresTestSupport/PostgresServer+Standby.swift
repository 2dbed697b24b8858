import RelayPosix
import Synchronization

extension PostgresServer {
    /// Has commits wait for a standby that there is not, and returns once one does: the server takes its settings up when
    /// each of its processes gets round to it.
    package func waitForStandby() throws {
        try sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try sql("SELECT pg_reload_conf()")
        let ended = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
            AND query LIKE '%a probe%'
            """
        let end = SystemClock.monotonic() + 120_000_000_000
        while SystemClock.monotonic() < end {
            let isOver = Over()
            try startDetachedThread("probe") {
                _ = try? self.sql("SELECT pg_logical_emit_message(true, 'a probe', '')")
                isOver.value.store(true, ordering: .releasing)
            }
            while !isOver.value.load(ordering: .acquiring) { if try sql(ended) != "0" { return } }
        }
        throw ProgramError("no commit waits for a standby after two minutes")
    }
}

private final class Over: Sendable {
    let value = Atomic(false)
}
