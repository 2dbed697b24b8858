import RelayBase
import RelayJobs

/// One call that claims jobs of a route, as far as it has come.
struct ClaimCall {
    /// Jobs of a queue that are not plain, as far as they have been looked up.
    struct Lookup {
        var rows: [(runAt: Int64, seq: Int64)] = []
        var next = 0
        /// Whether the queue had no more.
        var isAll = false

        var first: (runAt: Int64, seq: Int64)? { next < rows.count ? rows[next] : nil }
    }

    let routeName: String
    let route: Int64
    let limit: Int
    /// Plain jobs of the route.
    let plainRoute: PlainJobs.Route?
    var turns: ClaimTurns
    var plainClaims: PlainClaims
    var batch = ClaimBatch()
    /// Queues that may have others that are due.
    var usualQueues = 0
    var lookups: [JobQueue: Lookup] = [:]
    /// Jobs that the index has named though they could not be claimed.
    var passed: Set<Int64> = []

    init(
        _ name: String,
        _ route: Int64,
        _ begun: BegunAttempt,
        _ plainRoute: PlainJobs.Route?,
        _ turns: ClaimTurns,
        limit: Int
    ) {
        routeName = name
        self.route = route
        self.plainRoute = plainRoute
        self.turns = turns
        self.limit = limit
        plainClaims = PlainClaims(row: ClaimedRow(begun))
    }

    var left: Int { limit - batch.claims.count }
}

extension StoreWriter {
    /// Claims the job whose turn it is.
    ///
    /// - Returns: false when none is due.
    func claimNext(_ call: inout ClaimCall) throws(StoreError) -> Bool {
        // A round goes from the last turn to its end, and on from its beginning.
        if try claimNext(behind: call.turns.last, &call) { return true }
        return try claimNext(behind: -1, &call)
    }

    private func claimNext(
        behind party: ClaimTurns.Party,
        _ call: inout ClaimCall
    ) throws(StoreError) -> Bool {
        var last = party
        while let party = nextParty(behind: last, call) {
            last = party
            let due = try duePriorities(of: party, &call)
            guard due != 0 else { continue }
            let priority = call.turns.urgency(party, due)
            // One that cannot be claimed takes no turn.
            if try claimFirst(in: JobQueue(party, priority), &call) {
                call.turns.took(priority, party, due)
            }
            return true
        }
        return false
    }

    private func nextParty(behind party: ClaimTurns.Party, _ call: ClaimCall) -> ClaimTurns.Party? {
        let plain = call.plainRoute?.party(behind: party)
        guard call.usualQueues > 0, let other = usual[call.route]?.party(behind: party, by: now) else {
            return plain
        }
        return min(plain ?? other, other)
    }

    /// The priorities of which the party has a job that is due, a bit each.
    private func duePriorities(
        of party: ClaimTurns.Party,
        _ call: inout ClaimCall
    ) throws(StoreError) -> UInt8 {
        // A plain job that waits is due.
        var due = call.plainRoute?.priorities(of: party) ?? 0
        guard call.usualQueues > 0 else { return due }
        for lane in usual[call.route]?.queues(of: party, by: now) ?? []
        where try firstUsual(in: lane, &call) != nil {
            due |= 1 << lane.priority
        }
        return due
    }

    /// Claims the first job of a queue, of both kinds.
    ///
    /// - Returns: false when it could not be: what waits is to be looked at anew.
    private func claimFirst(in lane: JobQueue, _ call: inout ClaimCall) throws(StoreError) -> Bool {
        let plain = call.plainRoute?.first(in: lane)
        let other = call.usualQueues > 0 ? try firstUsual(in: lane, &call) : nil
        if let plain, other.map({ (plain.at, plain.seq) < $0 }) ?? true {
            if try claimPlain(plain, lane, &call) { return true }
            // A plain job that was postponed waits as a usual one from now on, perhaps in a queue that was looked up.
            call.lookups = [:]
            return false
        }
        guard let other else { return false }
        let begun = call.plainClaims.row.begun
        if let row = try intact(other.seq), let claim = try claim(row, route: call.routeName, begun) {
            call.batch.claims.append(claim)
            took(lane, &call)
            return true
        }
        // It is ready no more, and may have made others so.
        call.lookups = [:]
        usual[call.route]?.lost(lane)
        if !call.passed.insert(other.seq).inserted { try mendIndex(&call.passed) }
        try findQueues(call.route)
        return false
    }

    /// The first job of a queue that is not plain; nil where none is due.
    private func firstUsual(
        in lane: JobQueue,
        _ call: inout ClaimCall
    ) throws(StoreError) -> (runAt: Int64, seq: Int64)? {
        if call.lookups[lane]?.first == nil {
            let lookup = try lookUp(lane, call)
            usual[call.route]?.found(lane, due: lookup.first?.runAt)
            call.lookups[lane] = lookup
        }
        return call.lookups[lane]?.first.flatMap { $0.runAt <= now ? $0 : nil }
    }

    private func lookUp(_ lane: JobQueue, _ call: ClaimCall) throws(StoreError) -> ClaimCall.Lookup {
        // The queues share what is left; one that has the others' part is looked up again.
        let count = call.left / max(1, call.usualQueues) + 1
        let select = try database.statement(
            "SELECT run_at, seq FROM job WHERE route = ? AND lane = ? ORDER BY run_at, seq LIMIT ?"
        )
        select.bind(1, call.route)
        select.bind(2, lane.value)
        select.bind(3, Int64(count))
        defer { select.reset() }
        var lookup = ClaimCall.Lookup()
        while try select.step() { lookup.rows.append((select.int(0), select.int(1))) }
        lookup.isAll = lookup.rows.count < count
        return lookup
    }

    /// The first of a queue's lookup has been claimed.
    private func took(_ lane: JobQueue, _ call: inout ClaimCall) {
        guard var lookup = call.lookups.removeValue(forKey: lane) else { return }
        lookup.next += 1
        if lookup.first != nil || lookup.isAll {
            usual[call.route]?.found(lane, due: lookup.first?.runAt)
            if lookup.first != nil { call.lookups[lane] = lookup }
        } else {
            usual[call.route]?.lost(lane)
        }
    }

    /// The index names a job that is not there or is not ready, again and again: makes it anew from the table, once.
    private func mendIndex(_ passed: inout Set<Int64>) throws(StoreError) {
        guard !passed.contains(.min) else {
            throw StoreError(
                .corrupt,
                "the index of waiting jobs names one that does not wait, also when made anew"
            )
        }
        try database.execute("REINDEX job_lane")
        usual.removeAll()
        shared.countCorrupt()
        passed = [.min]
    }
}
