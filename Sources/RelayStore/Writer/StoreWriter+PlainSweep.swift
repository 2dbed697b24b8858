import RelayBase
import RelayJobs

/// The retention of plain jobs that are over: those it takes the bodies of are plain no more.
extension StoreWriter {
    func sweepPlain(_ retention: Retention, _ limit: Int, _ report: inout SweepReport) throws(StoreError) {
        var sweep = PlainSweep(
            limit: limit,
            removal: before(retention.succeeded),
            expunction: before(retention.bodies)
        )
        let zones = try finishedZones(by: sweep.edge, min(limit, Self.sweptZones))
        if zones.count == Self.sweptZones { report.hasMore = true }
        for zone in zones {
            let rest = try sweepPlain(zone, &sweep, &report)
            try setFinish(rest.finish, of: zone)
            guard !rest.isCut, !sweep.isFull else {
                report.hasMore = true
                return
            }
        }
    }

    /// Zones that one sweep looks through, whatever it finds there.
    private static let sweptZones = 32

    private struct PlainSweep {
        let limit: Int
        /// Points of the line: what was over by then is due.
        let removal: Int64
        let expunction: Int64
        var removed = 0
        var expunged = 0

        var edge: Int64 { max(removal, expunction) }
        var isFull: Bool { removed == limit || expunged == limit }
    }

    /// Zones with jobs that are due, and perhaps some that have none left.
    private func finishedZones(by time: Int64, _ limit: Int) throws(StoreError) -> [PlainZone] {
        let select = try database.statement(
            "SELECT route, block FROM zone WHERE fin IS NOT NULL AND fin <= ? ORDER BY fin LIMIT ?"
        )
        select.bind(1, time)
        select.bind(2, Int64(limit))
        defer { select.reset() }
        var zones: [PlainZone] = []
        while try select.step() { zones.append(PlainZone(route: select.int(0), block: select.int(1))) }
        return zones
    }

    /// - Returns: when the first of the others was over, and whether some of them are due.
    private func sweepPlain(
        _ zone: PlainZone,
        _ sweep: inout PlainSweep,
        _ report: inout SweepReport
    ) throws(StoreError) -> (finish: Int64?, isCut: Bool) {
        var first = Int64.max
        var isCut = false
        for (seq, finished) in try finished(in: zone) {
            let isRemoved = finished <= sweep.removal
            let isDue = isRemoved || finished <= sweep.expunction
            let hasRoom = (isRemoved ? sweep.removed : sweep.expunged) < sweep.limit
            guard isDue, hasRoom, mayErase(&report) else {
                first = min(first, finished)
                if isDue { isCut = true }
                continue
            }
            // A damaged one is hidden from here on.
            guard let old = try intact(seq) else { continue }
            if isRemoved {
                if try drop(old) { report.removed += 1 }
                sweep.removed += 1
            } else {
                if old.hasBodies {
                    try expunge(old)
                    report.expunged += 1
                }
                sweep.expunged += 1
            }
        }
        return (first == .max ? nil : first, isCut)
    }

    private func finished(in zone: PlainZone) throws(StoreError) -> [(seq: Int64, finished: Int64)] {
        let select = try database.statement(
            """
            SELECT seq, fin FROM ended WHERE seq BETWEEN ? AND ? AND route = ? AND fin < 9223372036854775807
            ORDER BY seq
            """
        )
        let positions = PlainZone.positions(of: zone.block)
        select.bind(1, positions.lowerBound)
        select.bind(2, positions.upperBound)
        select.bind(3, zone.route)
        defer { select.reset() }
        var found: [(Int64, Int64)] = []
        while try select.step() { found.append((select.int(0), select.int(1))) }
        return found
    }
}
