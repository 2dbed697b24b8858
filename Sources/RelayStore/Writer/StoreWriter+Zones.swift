import RelayBase
import RelayJobs

extension StoreWriter.Volatile {
    /// A job of the zone is over since that point of the line.
    mutating func note(_ finishedAt: Int64, in zone: PlainZone) {
        // The line does not go back: the first of a zone is its earliest.
        guard finishedZone != zone else { return }
        finishedZone = zone
        if finishedZones.count >= Self.zoneLimit { finishedZones.removeAll() }
        if finishedZones.insert(zone).inserted { newlyFinished.append((zone, finishedAt)) }
    }

    /// A job of the zone is scheduled for that point of the line.
    mutating func note(due: Int64, in zone: PlainZone) {
        // Nearly always that of the job before.
        for index in newlyDue.indices.suffix(4) where newlyDue[index].zone == zone {
            newlyDue[index].due = min(newlyDue[index].due, due)
            return
        }
        newlyDue.append((zone, due))
    }

    /// Forgets that jobs of the zone are over.
    mutating func forgetFinished(_ zone: PlainZone) {
        finishedZones.remove(zone)
        if finishedZone == zone { finishedZone = nil }
    }

    /// Zones of which is remembered that a row says when one of their jobs was over.
    private static let zoneLimit = 4_096
}

/// The counts of plain jobs by route and block: what a start and a sweep find them by.
extension StoreWriter {
    func countOpen(_ seq: Int64, _ route: Int64, _ change: Int64) {
        let zone = PlainZone(seq, route: route)
        // Nearly always that of the job before.
        for index in volatile.openZones.indices.suffix(4) where volatile.openZones[index].zone == zone {
            volatile.openZones[index].change += change
            return
        }
        volatile.openZones.append((zone, change))
    }

    /// Writes the changed rows; in every transaction, behind all that may change them.
    func flushZones() throws(StoreError) {
        try flushDue()
        let finish = try database.statement(
            """
            INSERT INTO zone(route, block, open, fin) VALUES(?1, ?2, 0, ?3)
            ON CONFLICT(route, block) DO UPDATE SET fin = ?3 WHERE fin IS NULL
            """
        )
        for (zone, finishedAt) in volatile.newlyFinished {
            finish.bind(zone)
            finish.bind(3, finishedAt)
            try finish.run()
        }
        volatile.newlyFinished.removeAll(keepingCapacity: true)
        guard !volatile.openZones.isEmpty else { return }
        for (zone, change) in volatile.openZones where change != 0 { try addOpen(change, to: zone) }
        volatile.openZones.removeAll(keepingCapacity: true)
    }

    /// Nearly always there is a row, and stays one.
    private func addOpen(_ change: Int64, to zone: PlainZone) throws(StoreError) {
        let add = try database.statement(
            """
            UPDATE zone SET open = open + ?3 WHERE route = ?1 AND block = ?2
            AND (open + ?3 <> 0 OR fin IS NOT NULL OR due IS NOT NULL)
            """
        )
        add.bind(zone)
        add.bind(3, change)
        try add.run()
        guard database.changes == 0 else { return }
        let remove = try database.statement("DELETE FROM zone WHERE route = ?1 AND block = ?2")
        remove.bind(zone)
        try remove.run()
        guard database.changes == 0 else { return }
        let insert = try database.statement("INSERT INTO zone(route, block, open) VALUES(?1, ?2, ?3)")
        insert.bind(zone)
        insert.bind(3, change)
        try insert.run()
    }

    /// Writes when the jobs are due that have been scheduled since: whoever looks for the next one calls it first.
    func flushDue() throws(StoreError) {
        try flushNewlyDue()
        guard !volatile.lostDue.isEmpty else { return }
        for zone in volatile.lostDue { try findDue(of: zone) }
        volatile.lostDue.removeAll(keepingCapacity: true)
    }

    private func flushNewlyDue() throws(StoreError) {
        guard !volatile.newlyDue.isEmpty else { return }
        let note = try database.statement(
            """
            INSERT INTO zone(route, block, open, due) VALUES(?1, ?2, 0, ?3)
            ON CONFLICT(route, block) DO UPDATE SET due = ?3 WHERE due IS NULL OR due > ?3
            """
        )
        for (zone, due) in volatile.newlyDue {
            note.bind(zone)
            note.bind(3, due)
            try note.run()
        }
        volatile.newlyDue.removeAll(keepingCapacity: true)
    }

    /// A job that was scheduled is plain no more: another one may be the first that is due.
    ///
    /// Which one is looked for once a zone, however many of its jobs go in a transaction.
    func findDue(without row: JobRow) throws(StoreError) {
        try flushNewlyDue()
        let zone = PlainZone(row.seq, route: row.route)
        guard !volatile.lostDue.contains(zone) else { return }
        let select = try database.statement("SELECT due FROM zone WHERE route = ?1 AND block = ?2")
        select.bind(zone)
        if try select.numbers().first == row.machine.runAt { volatile.lostDue.insert(zone) }
    }

    /// The same, where nobody has said which.
    func losesDue(_ zone: PlainZone) { volatile.lostDue.insert(zone) }

    private func findDue(of zone: PlainZone) throws(StoreError) {
        let first = try database.statement(
            "SELECT run_at FROM plain WHERE seq BETWEEN ? AND ? AND route = ? AND lane = 8 ORDER BY run_at LIMIT 1"
        )
        let positions = PlainZone.positions(of: zone.block)
        first.bind(1, positions.lowerBound)
        first.bind(2, positions.upperBound)
        first.bind(3, zone.route)
        try setDue(try first.numbers().first, of: zone)
    }

    func setDue(_ due: Int64?, of zone: PlainZone) throws(StoreError) {
        let update = try database.statement("UPDATE zone SET due = ?3 WHERE route = ?1 AND block = ?2")
        update.bind(zone)
        update.bind(3, due)
        try update.run()
        if due == nil { try removeEmpty(zone) }
    }

    private func removeEmpty(_ zone: PlainZone) throws(StoreError) {
        let remove = try database.statement(
            "DELETE FROM zone WHERE route = ?1 AND block = ?2 AND open = 0 AND fin IS NULL AND due IS NULL"
        )
        remove.bind(zone)
        try remove.run()
    }

    /// Sets the time before which no job of the zone was over; nil where none is.
    func setFinish(_ finishedAt: Int64?, of zone: PlainZone) throws(StoreError) {
        let update = try database.statement("UPDATE zone SET fin = ?3 WHERE route = ?1 AND block = ?2")
        update.bind(zone)
        update.bind(3, finishedAt)
        try update.run()
        guard finishedAt == nil else { return }
        volatile.forgetFinished(zone)
        try removeEmpty(zone)
    }
}

extension Statement {
    fileprivate func bind(_ zone: PlainZone) {
        bind(1, zone.route)
        bind(2, zone.block)
    }
}

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
