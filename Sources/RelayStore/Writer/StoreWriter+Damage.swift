import RelayBase
import RelayJobs
import RelayRecords

/// Damage stays where it is: a row that is not what was stored is taken out of all work, and its neighbours go on.
extension StoreWriter {
    /// The row, unless it is damaged: then what can be done about it has been done.
    func intact(_ seq: Int64) throws(StoreError) -> JobRow? {
        do throws(StoreError) {
            return try row(seq)
        } catch {
            guard error.code == .corrupt else { throw error }
            if let key = try hide(seq) { try relink(key) }
            return nil
        }
    }

    /// The row, unless it is damaged: then it is hidden, and its key is left for the caller to link anew.
    private func sound(
        _ seq: Int64,
        _ broken: inout Set<OrderingTails.Key>
    ) throws(StoreError) -> JobRow? {
        do throws(StoreError) {
            return try row(seq)
        } catch {
            guard error.code == .corrupt else { throw error }
            if let key = try hide(seq) { broken.insert(key) }
            return nil
        }
    }

    /// Takes a damaged row out of every index that leads to work; its record stays for the operator.
    ///
    /// - Returns: its ordering key, as far as that can be known; nil also when the row was hidden before.
    private func hide(_ seq: Int64) throws(StoreError) -> OrderingTails.Key? {
        forgetRow(seq)
        let select = try database.statement("SELECT state, id, route, okey, fin, skey FROM job WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else {
            try hidePlain(seq)
            return nil
        }
        guard select.int(0) != -1 else { return nil }
        // The record has a sum of its own and is believed before the row.
        let record = try? database.record(seq)
        let route = record.flatMap { routes[$0.route] } ?? select.int(2)
        let text = record.map { $0.orderingScope } ?? select.text(3)
        let isOver = select.optionalInt(4) != nil && select.int(0) >= Int64(JobState.succeeded.rawValue)
        if !isOver, let id = record?.id ?? JobID(bytes: select.bytes(1)), let name = routeNames[route] {
            tell(
                JobChange(
                    id: id,
                    route: name,
                    user: record?.submitter?.user,
                    state: .dead,
                    end: .corrupt
                )
            )
        }
        let supersedeKey = record.map { $0.supersedeScope } ?? select.text(5)
        select.reset()
        try unindex(seq)
        if let supersedeKey { try wakeSuccessors(supersedeKey, route: route) }
        noteDamage(seq)
        return text.map { OrderingTails.Key(route: route, text: $0) }
    }

    func noteDamage(_ seq: Int64) {
        volatile.notices.append("job number \(seq) of \(database.path) is damaged and will not be sent")
    }

    private func unindex(_ seq: Int64) throws(StoreError) {
        // Where it waited is not known.
        usual.removeAll()
        let update = try database.statement(
            "UPDATE job SET lane = NULL, side = NULL, state = -1 WHERE seq = ?"
        )
        update.bind(1, seq)
        do throws(StoreError) {
            try update.run()
        } catch {
            guard error.code == .corrupt else { throw error }
            // The indexes know the row by what it was, and would lead to it for ever.
            try database.execute("REINDEX job")
            update.bind(1, seq)
            try update.run()
        }
    }
}

extension StoreWriter {
    /// The jobs before and after `row` in its key; nil when one of them is damaged or its links say otherwise.
    func neighbours(of row: JobRow) throws(StoreError) -> (previous: JobRow?, next: JobRow?)? {
        var found: (previous: JobRow?, next: JobRow?)
        var broken: Set<OrderingTails.Key> = []
        if let seq = row.previous {
            found.previous = try sound(seq, &broken)
            guard found.previous?.next == row.seq else { return nil }
        }
        if let seq = row.next {
            found.next = try sound(seq, &broken)
            guard found.next?.previous == row.seq else { return nil }
        }
        return found
    }

    /// Links the intact unfinished jobs of a key anew, without `gone`; the first of them may then go.
    ///
    /// It looks at every job there is, which only damage is worth.
    func relink(_ key: OrderingTails.Key, without gone: Int64? = nil) throws(StoreError) {
        let select = try database.statement(
            """
            SELECT seq FROM job WHERE route = ? AND okey = ? AND fin IS NULL AND state BETWEEN 0 AND 4 ORDER BY seq
            """
        )
        select.bind(1, key.route)
        select.bind(2, key.text)
        var links = OrderingLinks()
        var broken: Set<OrderingTails.Key> = []
        for seq in try select.numbers() {
            guard let row = try sound(seq, &broken) else { continue }
            links.add(seq, previous: row.previous, next: row.next)
        }
        let chain = links.chain.filter { $0 != gone }
        for (index, seq) in chain.enumerated() {
            guard let old = try row(seq) else { continue }
            var row = old
            row.previous = index > 0 ? chain[index - 1] : nil
            row.next = index + 1 < chain.count ? chain[index + 1] : nil
            let hasWoken = row.previous == nil && row.machine.wake(now: now)
            if hasWoken || row.previous != old.previous || row.next != old.next {
                try save(row, replacing: old)
            }
        }
        if let last = chain.last {
            try tails.put(last, for: key, in: database)
        } else {
            tails.remove(key)
        }
        for other in broken where other != key { try relink(other) }
    }
}
