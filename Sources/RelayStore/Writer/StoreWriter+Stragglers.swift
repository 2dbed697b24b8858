import RelayBase
import RelayJobs

/// Jobs that are left over of blocks whose others are over.
///
/// A start reads each block of positions of which a plain job waits or runs. Were they left plain, one route in a hundred
/// that is down would have it read everything that is kept.
extension StoreWriter {
    /// Blocks at the end of the line that are read in any case.
    private static let youngBlocks: Int64 = 64
    /// Jobs of a zone that are few enough to have rows of their own; more of them are worth the reading.
    private static let few: Int64 = 256
    /// Zones that one sweep looks at.
    private static let zones: Int64 = 32

    /// Makes usual jobs of those that are few in old blocks, up to `limit`.
    func unfoldStragglers(_ limit: Int, _ report: inout SweepReport) throws(StoreError) {
        try flushZones()
        let select = try database.statement(
            "SELECT route, block FROM zone WHERE open > 0 AND block < ? AND open <= ? ORDER BY block LIMIT ?"
        )
        select.bind(1, (volatile.nextSeq >> PlainZone.shift) - Self.youngBlocks)
        select.bind(2, Self.few)
        select.bind(3, Self.zones)
        var zones: [PlainZone] = []
        while try select.step() { zones.append(PlainZone(route: select.int(0), block: select.int(1))) }
        select.reset()
        var count = 0
        for zone in zones {
            for seq in plain.open(in: zone) {
                guard count < limit else { break }
                // A damaged one is hidden from here on.
                if try intact(seq) != nil { try unfold(seq) }
                count += 1
            }
        }
        if count > 0 { report.hasMore = true }
    }
}
