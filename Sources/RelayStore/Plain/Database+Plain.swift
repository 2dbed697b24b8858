import RelayBase
import RelayJobs
import RelayRecords

extension Database {
    /// A plain job as it was accepted; nil where there is none.
    func plain(_ seq: Int64) throws(StoreError) -> PlainRow? {
        let select = try statement(
            named: "plain",
            "SELECT \(PlainRow.names) FROM plain WHERE seq = ?"
        )
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else { return nil }
        do throws(RecordReader.Damage) {
            return try PlainRow(select)
        } catch { throw .damaged("the record", "number \(seq)") }
    }

    /// How a plain job has succeeded; nil where it has not.
    func ended(_ seq: Int64) throws(StoreError) -> EndedRow? {
        let select = try statement("SELECT seq, route, fin, record FROM ended WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else { return nil }
        do throws(RecordReader.Damage) {
            return try EndedRow(select)
        } catch { throw .damaged("the answer", "number \(seq)") }
    }

    /// A plain job as the tables have it.
    func plainRow(_ seq: Int64) throws(StoreError) -> JobRow? {
        guard let plain = try plain(seq) else { return nil }
        var row = JobRow(plain)
        if row.machine.state == .scheduled { return row }
        if let ended = try ended(seq) {
            row.end(ended)
        } else if try !hasOpen(PlainZone(seq, route: row.route)) {
            // The row that was written of its end is not there.
            throw .damaged("the state", "number \(seq)")
        } else if row.machine.state != .running, let (token, begun) = try claim(of: seq) {
            row.run(token: token, begun)
        }
        return row
    }

    private func hasOpen(_ zone: PlainZone) throws(StoreError) -> Bool {
        let select = try statement("SELECT 1 FROM zone WHERE route = ? AND block = ? AND open > 0")
        select.bind(1, zone.route)
        select.bind(2, zone.block)
        defer { select.reset() }
        return try select.step()
    }

    /// The claim of a job in the rows of `claimed`; those that are damaged say nothing.
    private func claim(of seq: Int64) throws(StoreError) -> (token: UInt64, begun: BegunAttempt)? {
        let select = try statement("SELECT n, record FROM claimed WHERE low <= ?1 AND high >= ?1")
        select.bind(1, seq)
        defer { select.reset() }
        while try select.step() {
            guard let row = try? ClaimedRow(sealed: select.bytes(1), at: select.int(0)),
                let claim = row.claims.first(where: { $0.seq == seq })
            else { continue }
            return (claim.token, row.begun)
        }
        return nil
    }

    /// Every plain job that the rows of `claimed` name.
    func claimedPositions() throws(StoreError) -> Set<Int64> {
        let select = try statement("SELECT n, record FROM claimed")
        defer { select.reset() }
        var found: Set<Int64> = []
        while try select.step() {
            guard let row = try? ClaimedRow(sealed: select.bytes(1), at: select.int(0)) else { continue }
            for claim in row.claims { found.insert(claim.seq) }
        }
        return found
    }

    /// The first and the last position that a job has; nil where there is none.
    func positions() throws(StoreError) -> ClosedRange<Int64>? {
        let ends = (
            try optionalNumber("SELECT min(seq) FROM job"), try optionalNumber("SELECT max(seq) FROM job"),
            try optionalNumber("SELECT min(seq) FROM plain"), try optionalNumber("SELECT max(seq) FROM plain")
        )
        guard let low = [ends.0, ends.2].compactMap({ $0 }).min(),
            let high = [ends.1, ends.3].compactMap({ $0 }).max()
        else { return nil }
        return low...high
    }
}

/// Where `zone` counts a plain job.
struct PlainZone: Hashable {
    /// The power of two that a block has positions.
    static let shift: Int64 = 10

    var route: Int64
    var block: Int64

    init(route: Int64, block: Int64) {
        self.route = route
        self.block = block
    }

    init(_ seq: Int64, route: Int64) {
        self.route = route
        block = seq >> Self.shift
    }

    static func positions(of block: Int64) -> ClosedRange<Int64> {
        block << shift...(block << shift | (1 << shift - 1))
    }
}
