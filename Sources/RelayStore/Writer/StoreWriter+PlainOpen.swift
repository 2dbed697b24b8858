import RelayBase
import RelayJobs
import RelayRecords

/// The knowledge of plain jobs, made from the tables: at a start, and after a transaction that has never been.
extension StoreWriter {
    /// The facts that the tables could not tell.
    struct PlainDamage {
        /// Jobs that run, or whose row has no queue that there is.
        var jobs: [Int64] = []
        /// Among which positions the jobs of rows of `claimed` are.
        var claims: [ClosedRange<Int64>] = []
        /// Zones with other jobs than are counted: more of them where a row of `ended` is lost.
        var zones: [(zone: PlainZone, found: Int64, counted: Int64)] = []
    }

    /// Makes what is known of plain jobs anew.
    func loadPlain() throws(StoreError) -> PlainDamage {
        var damage = PlainDamage()
        var jobs = PlainJobs()
        let claimed = try loadClaims(into: &jobs, &damage)
        let blocks = try database.statement("SELECT DISTINCT block FROM zone WHERE open > 0 ORDER BY block")
        for block in try blocks.numbers() {
            let select = try database.statement(
                """
                SELECT seq, route, lane, run_at, expires, created, user FROM plain
                WHERE seq BETWEEN ? AND ? AND lane NOT IN (-1, 8)
                AND NOT EXISTS (SELECT 1 FROM ended WHERE ended.seq = plain.seq) ORDER BY seq
                """
            )
            let positions = PlainZone.positions(of: block)
            select.bind(1, positions.lowerBound)
            select.bind(2, positions.upperBound)
            defer { select.reset() }
            var counts = try openJobs(in: block)
            while try select.step() {
                let (seq, lane, runAt, created) = (
                    select.int(0), select.int(2), select.int(3), select.int(5)
                )
                counts[select.int(1), default: (0, 0)].found += 1
                if let claim = claimed[seq] {
                    try restore(seq, claim, into: &jobs, &damage)
                } else if lane == JobRow.runningQueue {
                    try restore(seq, nil, into: &jobs, &damage)
                } else if (0..<8).contains(lane), runAt > .min, created > .min {
                    let user = select.optionalInt(6).map { UInt32(truncatingIfNeeded: $0) }
                    jobs.wait(
                        seq,
                        route: select.int(1),
                        JobQueue(ClaimTurns.party(of: user), Int(lane)),
                        runAt: runAt,
                        expiresAt: select.optionalInt(4),
                        created: created
                    )
                } else {
                    damage.jobs.append(seq)
                }
            }
            for (route, count) in counts where count.found != count.counted {
                damage.zones.append((PlainZone(route: route, block: block), count.found, count.counted))
            }
        }
        jobs.tellAgain(of: plain)
        plain = jobs
        return damage
    }

    /// How many jobs of each route are counted that wait or run, beside none that were found.
    private func openJobs(in block: Int64) throws(StoreError) -> [Int64: (found: Int64, counted: Int64)] {
        let select = try database.statement("SELECT route, open FROM zone WHERE block = ? AND open > 0")
        select.bind(1, block)
        defer { select.reset() }
        var counts: [Int64: (Int64, Int64)] = [:]
        while try select.step() { counts[select.int(0)] = (0, select.int(1)) }
        return counts
    }

    private typealias ClaimKey = (number: Int64, token: UInt64)

    private func loadClaims(
        into jobs: inout PlainJobs,
        _ damage: inout PlainDamage
    ) throws(StoreError) -> [Int64: ClaimKey] {
        var claimed: [Int64: ClaimKey] = [:]
        let select = try database.statement("SELECT n, low, high, sum, record FROM claimed ORDER BY n")
        defer { select.reset() }
        while try select.step() {
            let number = select.int(0)
            guard let row = try? ClaimedRow(sealed: select.bytes(4), at: number) else {
                jobs.restore(number, nil)
                let (low, high) = (select.int(1), select.int(2))
                // Where nothing of the row is to be believed it may have been any job.
                let isKnown = low <= high && ClaimedRow.sum(number, low...high) == select.int(3)
                damage.claims.append(isKnown ? low...high : .min ... .max)
                continue
            }
            jobs.restore(number, row.begun)
            for claim in row.claims { claimed[claim.seq] = (number, claim.token) }
        }
        return claimed
    }

    private func restore(
        _ seq: Int64,
        _ claim: ClaimKey?,
        into jobs: inout PlainJobs,
        _ damage: inout PlainDamage
    ) throws(StoreError) {
        do throws(StoreError) {
            guard let stored = try database.plain(seq) else { return }
            jobs.run(
                seq,
                PlainJobs.Running(
                    id: stored.record.id,
                    route: stored.columns.route,
                    token: claim?.token ?? stored.columns.token,
                    created: stored.columns.created,
                    claim: claim?.number ?? 0
                )
            )
        } catch {
            guard error.code == .corrupt else { throw error }
            damage.jobs.append(seq)
        }
    }

    /// Takes plain jobs over from the process before.
    ///
    /// - Returns: those that were in flight.
    func takeOverPlain() throws(StoreError) -> [Int64] {
        let damage = try loadPlain()
        // From here on each zone counts what it has; what is given up below is taken off that by itself.
        for (zone, found, counted) in damage.zones { volatile.openZones.append((zone, found - counted)) }
        for seq in damage.jobs {
            shared.countCorrupt()
            try hidePlain(seq, isCounted: true)
        }
        for reach in damage.claims {
            let count = try quarantine(plain.waiting(in: reach))
            volatile.notices.append(
                "a record of claims of \(database.path) is damaged; \(count) jobs that it may be of will not be sent"
            )
        }
        for (zone, found, counted) in damage.zones where found > counted {
            let count = try quarantine(plain.waiting(in: zone))
            volatile.notices.append(
                "the record of a success in \(database.path) is lost; \(count) jobs that it may be of will not be sent"
            )
        }
        for (zone, found, counted) in damage.zones where found < counted {
            shared.countCorrupt()
            volatile.notices.append(
                "\(counted - found) jobs of route \(routeNames[zone.route] ?? "-") in \(database.path) cannot be found"
            )
        }
        return Array(plain.running.keys)
    }

    /// Gives up jobs of which it is not known whether they were sent, or are over.
    private func quarantine(_ jobs: [Int64]) throws(StoreError) -> Int {
        shared.countCorrupt()
        let now = now
        var count = 0
        for seq in jobs {
            guard let old = try intact(seq) else { continue }
            guard let row = try change(old, { $0.quarantine(now: now) }) else { continue }
            count += 1
            tell(row)
        }
        return count
    }

    /// Takes a damaged plain job out of all work; its record stays for the operator.
    ///
    /// `isCounted` says that its zone counts it, though it is not known.
    func hidePlain(_ seq: Int64, isCounted: Bool = false) throws(StoreError) {
        let known = plain.route(of: seq)
        let select = try database.statement("SELECT route, lane, user FROM plain WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        let isThere = try select.step()
        let lane = select.int(1)
        guard !isThere || lane != PlainRow.damagedQueue else { return }
        let route = known ?? select.int(0)
        let user = select.optionalInt(2).map { UInt32(truncatingIfNeeded: $0) }
        select.reset()
        let isScheduled = known == nil && lane == JobRow.scheduledQueue
        if try !isOver(seq) {
            if let id = try id(of: seq), let name = routeNames[route] {
                tell(JobChange(id: id, route: name, user: user, state: .dead, end: .corrupt))
            }
            if known != nil || isCounted { try closePlain(seq, route: route) }
        }
        for update in [
            try database.statement("UPDATE plain SET lane = -1 WHERE seq = ?"),
            // No sweep comes to it.
            try database.statement("UPDATE ended SET fin = 9223372036854775807 WHERE seq = ?"),
        ] {
            update.bind(1, seq)
            try update.run()
        }
        if isScheduled { losesDue(PlainZone(seq, route: route)) }
        noteDamage(seq)
    }

    private func isOver(_ seq: Int64) throws(StoreError) -> Bool {
        let select = try database.statement("SELECT seq FROM ended WHERE seq = ?")
        select.bind(1, seq)
        return try !select.numbers().isEmpty
    }

    /// The id of a job whose row is damaged: it looks at every job there is, which only damage is worth.
    private func id(of seq: Int64) throws(StoreError) -> JobID? {
        let select = try database.statement("SELECT id FROM id WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        return try select.step() ? JobID(bytes: select.bytes(0)) : nil
    }
}
