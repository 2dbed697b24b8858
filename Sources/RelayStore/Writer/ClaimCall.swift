import RelayBase
import RelayJobs

/// The state of one call that claims jobs of a route.
///
/// Plain jobs stand in the table `plain`; all others are "usual" and stand in `job`.
struct ClaimCall {
    /// Usual jobs of one queue, read ahead in order; valid until a job enters the queue.
    struct Lookup {
        typealias Position = (runAt: Int64, seq: Int64)

        var rows: [Position] = []
        var next = 0
        /// Whether the rows reach the end of the queue.
        var isComplete = false

        var first: Position? { next < rows.count ? rows[next] : nil }
    }

    let routeName: String
    let route: Int64
    let limit: Int
    /// Plain jobs of the route.
    let plainRoute: PlainJobs.Route?
    var turns: ClaimTurns
    var plainClaims: PlainClaims
    var batch = ClaimBatch()
    /// The number of queues that may have a usual job that is due; none spares the table `job`.
    var usualQueueCount = 0
    var lookups: [JobQueue: Lookup] = [:]
    /// Jobs that the index has named though they could not be claimed.
    var unclaimable: Set<Int64> = []
    var hasMendedIndex = false

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
    /// Tries to claim the job whose turn it is.
    ///
    /// - Returns: false where no job is due; true also where one could not be claimed and has left its queue.
    func claimNext(_ call: inout ClaimCall) throws(StoreError) -> Bool {
        // The parties after the last one come first, then those from the start.
        if try claimNext(after: call.turns.last, &call) { return true }
        return try claimNext(after: -1, &call)
    }

    private func claimNext(
        after party: ClaimTurns.Party,
        _ call: inout ClaimCall
    ) throws(StoreError) -> Bool {
        var last = party
        while let party = nextParty(after: last, call) {
            last = party
            let due = try duePriorities(of: party, &call)
            guard due != 0 else { continue }
            let priority = call.turns.urgency(party, due)
            // A job that cannot be claimed does not use up the party's turn.
            if try claimFirst(in: JobQueue(party, priority), &call) {
                call.turns.took(priority, party, due)
            }
            return true
        }
        return false
    }

    private func nextParty(after party: ClaimTurns.Party, _ call: ClaimCall) -> ClaimTurns.Party? {
        let plain = call.plainRoute?.party(behind: party)
        guard call.usualQueueCount > 0, let other = usual[call.route]?.party(behind: party, by: now) else {
            return plain
        }
        return min(plain ?? other, other)
    }

    /// The priorities at which the party has a job that is due, a bit each.
    private func duePriorities(
        of party: ClaimTurns.Party,
        _ call: inout ClaimCall
    ) throws(StoreError) -> UInt8 {
        // A plain job that waits is due.
        var due = call.plainRoute?.priorities(of: party) ?? 0
        guard call.usualQueueCount > 0 else { return due }
        for lane in usual[call.route]?.queues(of: party, by: now) ?? []
        where try firstUsual(in: lane, &call) != nil {
            due |= 1 << lane.priority
        }
        return due
    }

    /// Claims the first job of a queue, plain or usual.
    ///
    /// - Returns: false where it could not be claimed, and has left the queue.
    private func claimFirst(in lane: JobQueue, _ call: inout ClaimCall) throws(StoreError) -> Bool {
        let plain = call.plainRoute?.first(in: lane)
        let other = call.usualQueueCount > 0 ? try firstUsual(in: lane, &call) : nil
        // Both kinds share one order: when they are due, then their acceptance.
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
            advanceLookup(in: lane, &call)
            return true
        }
        // It has left the queue, and its end may have made jobs of any queue ready.
        call.lookups = [:]
        usual[call.route]?.lost(lane)
        // A job that is named twice stands in the index alone.
        if !call.unclaimable.insert(other.seq).inserted { try mendIndex(&call) }
        try findQueues(call.route)
        return false
    }

    /// The first usual job of a queue; nil where none is due.
    private func firstUsual(
        in lane: JobQueue,
        _ call: inout ClaimCall
    ) throws(StoreError) -> ClaimCall.Lookup.Position? {
        if call.lookups[lane]?.first == nil {
            let lookup = try lookUp(lane, call)
            usual[call.route]?.found(lane, due: lookup.first?.runAt)
            call.lookups[lane] = lookup
        }
        return call.lookups[lane]?.first.flatMap { $0.runAt <= now ? $0 : nil }
    }

    private func lookUp(_ lane: JobQueue, _ call: ClaimCall) throws(StoreError) -> ClaimCall.Lookup {
        // The queues share the limit; one that yields more than its part is looked up again.
        let count = call.left / max(1, call.usualQueueCount) + 1
        let select = try database.statement(
            // The index ends in the rowid, which is seq, so that nothing is sorted.
            "SELECT run_at, seq FROM job WHERE route = ? AND lane = ? ORDER BY run_at, seq LIMIT ?"
        )
        select.bind(1, call.route)
        select.bind(2, lane.value)
        select.bind(3, Int64(count))
        defer { select.reset() }
        var lookup = ClaimCall.Lookup()
        while try select.step() { lookup.rows.append((select.int(0), select.int(1))) }
        lookup.isComplete = lookup.rows.count < count
        return lookup
    }

    /// The first of a queue's lookup has been claimed.
    private func advanceLookup(in lane: JobQueue, _ call: inout ClaimCall) {
        guard var lookup = call.lookups.removeValue(forKey: lane) else { return }
        lookup.next += 1
        if lookup.first != nil || lookup.isComplete {
            usual[call.route]?.found(lane, due: lookup.first?.runAt)
            if lookup.first != nil { call.lookups[lane] = lookup }
        } else {
            usual[call.route]?.lost(lane)
        }
    }

    /// Rebuilds the index that named a job twice although it does not wait; a second time in one call is an error.
    private func mendIndex(_ call: inout ClaimCall) throws(StoreError) {
        guard !call.hasMendedIndex else {
            throw StoreError(
                .corrupt,
                "the index of waiting jobs names a job that does not wait, even after it was rebuilt"
            )
        }
        try database.execute("REINDEX job_lane")
        usual.removeAll()
        shared.countCorrupt()
        call.unclaimable = []
        call.hasMendedIndex = true
    }
}
