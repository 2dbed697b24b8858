import RelayBase
import RelayJobs

/// Supersede keys: a newer job takes the place of those that wait, and follows the one that runs.
extension StoreWriter {
    /// Ends what still waits with this key; what runs gets no other attempt.
    func supersede(_ key: String, route: Int64) throws(StoreError) {
        let select = try database.statement(
            """
            SELECT mark.seq FROM mark CROSS JOIN job ON job.seq = mark.seq
            WHERE list = 1 AND mark.route = ? AND word = ? AND at = 0 AND state BETWEEN 0 AND 4 ORDER BY mark.seq
            """
        )
        select.bind(1, route)
        select.bind(2, key)
        for seq in try select.numbers() {
            guard let old = try intact(seq) else { continue }
            let now = now
            guard let row = try change(old, { $0.supersede(now: now) }) else { continue }
            if row.machine.state.isTerminal { tell(row) }
        }
    }

    /// Whether an older job with the supersede key of `row` is with the upstream.
    func isRunning(before row: JobRow) throws(StoreError) -> Bool {
        guard let key = row.supersedeKey else { return false }
        let select = try database.statement(
            """
            SELECT 1 FROM mark CROSS JOIN job ON job.seq = mark.seq
            WHERE list = 1 AND mark.route = ? AND word = ? AND at = 0 AND mark.seq < ? AND state = 2 LIMIT 1
            """
        )
        select.bind(1, row.route)
        select.bind(2, key)
        select.bind(3, row.seq)
        defer { select.reset() }
        return try select.step()
    }

    /// `row` has come to rest: whoever waited for that may go.
    func wakeSuccessors(of row: JobRow) throws(StoreError) {
        if let key = row.supersedeKey { try wakeSuccessors(key, route: row.route) }
    }

    func wakeSuccessors(_ key: String, route: Int64) throws(StoreError) {
        let select = try database.statement(
            """
            SELECT mark.seq FROM mark CROSS JOIN job ON job.seq = mark.seq
            WHERE list = 1 AND mark.route = ? AND word = ? AND at = 0 AND state = 1 AND reason = ? AND prv IS NULL
            ORDER BY mark.seq
            """
        )
        select.bind(1, route)
        select.bind(2, key)
        select.bind(3, Int64(WaitReason.ordering.rawValue))
        let now = now
        for seq in try select.numbers() {
            guard let old = try intact(seq) else { continue }
            try change(old) { $0.wake(now: now) }
        }
    }
}
