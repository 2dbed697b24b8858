import RelayCore

extension Database {
    /// When the first scheduled job of a route is due, on the line.
    func nextScheduled(_ route: Int64) throws(StoreError) -> Int64? {
        let select = try statement("SELECT min(run_at) FROM job WHERE route = ? AND state = 0")
        select.bind(1, route)
        defer { select.reset() }
        return try select.step() ? select.optionalInt(0) : nil
    }

    /// When the first waiting job of a route is due, on the line.
    func nextDue(_ route: Int64) throws(StoreError) -> Int64? {
        var first: Int64?
        for priority in 0..<8 {
            let select = try statement("SELECT min(run_at) FROM job WHERE route = ? AND ready = ?")
            select.bind(1, route)
            select.bind(2, Int64(priority))
            defer { select.reset() }
            if try select.step(), let due = select.optionalInt(0) { first = min(first ?? .max, due) }
        }
        if let scheduled = try nextScheduled(route) { first = min(first ?? .max, scheduled) }
        return first
    }
}
