import RelayBase
import RelayJobs

/// Ordering keys: the unfinished jobs of a key are linked in order, and only the first is not blocked.
extension StoreWriter {
    /// The last unfinished job of a key, which `seq` now comes behind.
    func append(_ seq: Int64, route: Int64, key: String) throws(StoreError) -> Int64? {
        let key = OrderingTails.Key(route: route, text: key)
        let (tail, isStored) = try last(of: key)
        try tails.append(seq, to: key, isStored: isStored, in: database)
        guard let tail else { return nil }
        var row = tail
        row.next = seq
        try save(row, replacing: tail)
        return tail.seq
    }

    /// The last job of a key, unless that is over; and whether `keyq` may have a row.
    private func last(of key: OrderingTails.Key) throws(StoreError) -> (row: JobRow?, isStored: Bool) {
        let found = try tails.tail(key, in: database)
        guard let seq = found.seq else { return (nil, found.isStored) }
        do throws(StoreError) {
            guard let row = try row(seq), row.route == key.route, row.orderingKey == key.text,
                !row.machine.state.isTerminal
            else { return (nil, found.isStored) }
            if row.next == nil { return (row, found.isStored) }
        } catch {
            guard error.code == .corrupt else { throw error }
            _ = try intact(seq)
        }
        try relink(key)
        let mended = try tails.tail(key, in: database)
        return (try mended.seq.flatMap { seq throws(StoreError) in try row(seq) }, mended.isStored)
    }

    /// Whether ordering keys in memory should come on disk.
    var wantsTails: Bool { tails.wantsStep(volatile.nextSeq) }

    func stepTails() throws(StoreError) {
        if let known = try tails.step(volatile.nextSeq, in: database) { try setMeta("keyed", known) }
    }

    /// Takes a job that is over out of its key; the one behind the first may then go.
    func unlink(_ row: inout JobRow) throws(StoreError) {
        guard let text = row.orderingKey else { return }
        let key = OrderingTails.Key(route: row.route, text: text)
        let (previous, next) = (row.previous, row.next)
        if let found = try neighbours(of: row) {
            if let old = found.next {
                var behind = old
                behind.previous = previous
                if previous == nil { behind.machine.wake(now: now) }
                try save(behind, replacing: old)
            } else if let previous {
                try tails.put(previous, for: key, in: database)
            } else {
                tails.remove(key)
            }
            if let old = found.previous {
                var before = old
                before.next = next
                try save(before, replacing: old)
            }
        } else {
            try relink(key, without: row.seq)
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
        if row.machine.state.isTerminal, !old.machine.state.isTerminal {
            try unlink(&row)
            if row.dropsContent { try dropContent(of: &row) }
        }
        try save(row, replacing: old)
        return row
    }
}
