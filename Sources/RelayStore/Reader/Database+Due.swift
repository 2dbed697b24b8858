import RelayBase

extension Database {
    /// When the first scheduled job of a route is due, on the line.
    func nextScheduled(_ route: Int64) throws(StoreError) -> Int64? {
        let select = try statement(
            """
            SELECT min(due) FROM (SELECT min(run_at) AS due FROM job WHERE route = ?1 AND lane = 8
            UNION ALL SELECT min(due) FROM zone WHERE route = ?1 AND due IS NOT NULL)
            """
        )
        select.bind(1, route)
        defer { select.reset() }
        return try select.step() ? select.optionalInt(0) : nil
    }
}
