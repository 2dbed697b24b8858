import RelayBase

/// Plain jobs that are scheduled: as their time comes they are made jobs like any other, which then wake.
extension StoreWriter {
    /// The earliest of a zone that are unfolded with those that are due, so that few looks go through all of it.
    private static let atLeast = 64

    /// Unfolds what is due of a route, about `limit` jobs at most.
    func unfoldScheduled(_ route: Int64, _ limit: Int) throws(StoreError) {
        let select = try database.statement(
            "SELECT block FROM zone WHERE route = ? AND due IS NOT NULL AND due <= ? ORDER BY due"
        )
        select.bind(1, route)
        select.bind(2, now)
        var left = limit
        for block in try select.numbers() where left > 0 {
            left -= try unfoldScheduled(in: PlainZone(route: route, block: block), left)
        }
    }

    /// - Returns: how many it has unfolded.
    private func unfoldScheduled(in zone: PlainZone, _ limit: Int) throws(StoreError) -> Int {
        let select = try database.statement(
            """
            SELECT seq, run_at FROM plain WHERE seq BETWEEN ? AND ? AND route = ? AND lane = 8 ORDER BY run_at, seq
            LIMIT ?
            """
        )
        let positions = PlainZone.positions(of: zone.block)
        select.bind(1, positions.lowerBound)
        select.bind(2, positions.upperBound)
        select.bind(3, zone.route)
        select.bind(4, Int64(limit + 1))
        var found: [(seq: Int64, due: Int64)] = []
        do {
            defer { select.reset() }
            while try select.step() { found.append((select.int(0), select.int(1))) }
        }
        let due = max(found.count { $0.due <= now }, Self.atLeast)
        let taken = found.prefix(min(due, limit))
        for (seq, _) in taken {
            do throws(StoreError) {
                try unfold(seq, findsDue: false)
            } catch {
                guard error.code == .corrupt else { throw error }
                shared.countCorrupt()
                try hidePlain(seq)
            }
        }
        try setDue(taken.count < found.count ? found[taken.count].due : nil, of: zone)
        return taken.count
    }
}
