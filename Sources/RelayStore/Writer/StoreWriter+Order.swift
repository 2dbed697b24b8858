import RelayCore

/// Ordering keys: the unfinished jobs of a key are linked in order, and only the first is not blocked.
extension StoreWriter {
    /// The last unfinished job of a key, which the new one `seq` comes behind.
    func append(_ seq: Int64, route: Int64, key: String) throws(StoreError) -> Int64? {
        let select = try database.statement("SELECT tail FROM keyq WHERE route = ? AND okey = ?")
        select.bind(1, route)
        select.bind(2, key)
        let tail = try select.step() ? select.int(0) : nil
        select.reset()
        try setTail(seq, route: route, key: key)
        guard let tail else { return nil }
        guard let old = try row(tail) else { throw corrupt(tail) }
        var row = old
        row.next = seq
        try save(row, replacing: old)
        return tail
    }

    private func setTail(_ seq: Int64, route: Int64, key: String) throws(StoreError) {
        let insert = try database.statement("INSERT OR REPLACE INTO keyq(route, okey, tail) VALUES(?, ?, ?)")
        insert.bind(1, route)
        insert.bind(2, key)
        insert.bind(3, seq)
        try insert.run()
    }

    /// Takes a job that is over out of its key; the one behind the first may then go.
    func unlink(_ row: inout JobRow) throws(StoreError) {
        guard let key = row.orderingKey else { return }
        if let next = row.next {
            guard let old = try self.row(next) else { throw corrupt(next) }
            var behind = old
            behind.previous = row.previous
            if row.previous == nil { behind.machine.wake(now: now) }
            try save(behind, replacing: old)
        } else if let previous = row.previous {
            try setTail(previous, route: row.route, key: key)
        } else {
            let delete = try database.statement("DELETE FROM keyq WHERE route = ? AND okey = ?")
            delete.bind(1, row.route)
            delete.bind(2, key)
            try delete.run()
        }
        if let previous = row.previous {
            guard let old = try self.row(previous) else { throw corrupt(previous) }
            var before = old
            before.next = row.next
            try save(before, replacing: old)
        }
        row.previous = nil
        row.next = nil
    }

    /// Applies a change of the state machine and all that follows from it.
    ///
    /// - Returns: the row as it is now, or nil when the change is not legal.
    @discardableResult
    func change(_ old: JobRow, _ step: (inout JobStateMachine) -> Bool) throws(StoreError) -> JobRow? {
        var row = old
        guard step(&row.machine) else { return nil }
        if row.machine.state.isTerminal, !old.machine.state.isTerminal { try unlink(&row) }
        try save(row, replacing: old)
        return row
    }
}
