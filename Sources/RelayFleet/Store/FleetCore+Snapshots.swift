import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// A look at what keeps the database from giving room back.
extension FleetCore {
    /// Milliseconds between two looks; a snapshot that both have seen is told of.
    static let lookInterval: Int64 = 5_000

    /// Looks for the session that has the oldest snapshot.
    ///
    /// All that began since then have as old a one: it is the first of them, or another role's, whose start nobody else is
    /// told.
    func lookAtSnapshots() async throws(StoreError) {
        guard steady >= nextLook else { return }
        nextLook = steady + Self.lookInterval
        let result = try await round(
            "look at snapshots",
            [
                PostgresStatement(
                    """
                    SELECT (pg_notification_queue_usage() * 1000000)::bigint, a.pid::bigint, a.application_name,
                    a.since::text FROM (SELECT 1) one LEFT JOIN LATERAL (
                    SELECT pid, application_name, coalesce(backend_xid, backend_xmin) AS since
                    FROM pg_stat_activity WHERE coalesce(backend_xid, backend_xmin) IS NOT NULL AND pid <> pg_backend_pid()
                    ORDER BY greatest(age(backend_xid), age(backend_xmin)) DESC, xact_start NULLS FIRST, pid LIMIT 1) a ON true
                    """
                )
            ]
        )[0]
        notificationQueue = result.int64(0, 0) ?? 0
        guard let process = result.int64(0, 1) else {
            holder = nil
            return
        }
        let key = "\(process) \(result.text(0, 3) ?? "")"
        if holder?.key == key { return }
        let now = Instant(nanoseconds: loop.currentTime())
        let application = result.text(0, 2) ?? ""
        holder = (key, steady, SnapshotHolder(process: process, application: application, since: now))
    }
}
