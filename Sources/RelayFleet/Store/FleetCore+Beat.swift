import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// The beat of a node: it renews its lease, hears what others did to its jobs, finds work, and takes over from the dead.
extension FleetCore {
    /// Nanoseconds between two beats: what somebody asks of a running job reaches it within a second.
    private static let interval: ClosedRange<Int64> = 400_000_000...800_000_000
    private static let promoted: Int64 = 500
    /// Milliseconds by which an entry of `deferred` may come later than one that is due after it, without a look back.
    private static let late: Int64 = 1_000

    func startBeating() {
        guard !isBeating else { return }
        isBeating = true
        spawn { await $0.beat() }
        if options.wakesByItself { spawn { await $0.promoteAll() } }
        if options.looksOften { spawn { await $0.lookOften() } }
    }

    private func beat() async {
        var random = FastRandom()
        while !isClosing {
            do throws(StoreError) {
                if refusal == nil { try await renew() }
                if lease.maySend(at: options.clock()) {
                    keepListening()
                    try await hear()
                    if options.looksByItself { try await look() }
                    try await takeOver()
                    if let trouble = lastTrouble {
                        events.relief("the database takes statements again, after: \(trouble)")
                    }
                    lastTrouble = nil
                    try await lookAtSnapshots()
                    try await giveBackUnknown()
                    try await forgetFormer()
                }
            } catch { trouble(error) }
            publish()
            let wait = Int64.random(in: Self.interval, using: &random)
            try? await loop.sleep(until: loop.currentTime() + wait)
        }
        isBeating = false
    }

    func trouble(_ error: StoreError) {
        guard error.code != .closed else { return }
        facts.errors[error.code, default: 0] += 1
        // Of one trouble once, until it is over, whichever statement meets it.
        let cause = pool.trouble?.message ?? error.message
        if lastTrouble != cause { events.notice(error.message) }
        lastTrouble = cause
    }

    /// Renews the lease when a third of it is over.
    private func renew() async throws(StoreError) {
        let sent = options.clock()
        guard sent >= lease.next(after: sent) else { return }
        let (reach, asked) = (reach, steady)
        let result = try await round(
            "renew the lease",
            [
                PostgresStatement(
                    """
                    UPDATE \(statements.s).node SET until = \(statements.now) + lease, tokens = $4, held = $5, routes = $6,
                    floor = CASE WHEN $3 <= (SELECT last_value FROM \(statements.s).seq) THEN $3 ELSE floor END
                    WHERE name = $1 AND generation = $2
                    RETURNING \(statements.now), (SELECT last_value FROM \(statements.s).seq), floor
                    """,
                    [
                        .text(options.node), .int64(generation), .int64(reach.floor), .int64(reach.tokens),
                        .int64s(reach.held), .int32s(servedNumbers),
                    ]
                )
            ]
        )[0]
        guard result.count > 0 else { return rejoin() }
        observe(result.int64(0, 0), sent: asked)
        // It may be less than before: a standby that was promoted has not seen the last of them, and what it has given since
        // lies from there on to which it had seen this node's claims.
        if let floor = result.int64(0, 2), floor < reach.floor {
            acceptanceFloors = acceptanceFloors.mapValues { min($0, floor) }
            (acceptFloor, formerReach.floor) = (min(acceptFloor, floor), min(formerReach.floor, floor))
            doubts.lower(to: floor)
        }
        highestSeq = result.int64(0, 1) ?? 0
        lease.renewed(sent: sent)
        renewedAt = Instant(nanoseconds: asked * 1_000_000)
    }

    /// Another node has taken over what this one had, or another process has its name: it begins anew, as after a start.
    private func rejoin() {
        let lost = running.values.map(\.id)
        // The database may say nothing of it any more: its row is gone where another node has taken over.
        let reach = reach
        if former.isEmpty { formerReach = reach } else { formerReach.add(reach) }
        former.append(generation)
        (running, doubts) = ([:], FleetDoubts())
        // The one of earlier starts says nothing of what this one has sent.
        formerHorizon = FleetHorizon(arrival: .max)
        lease = LeaseMachine(lease: lease.lease)
        refusal = .away(
            "use it",
            "the lease of node \(options.node) was over, and it has to take its name again"
        )
        events.asked(lost)
        events.notice(
            "the lease of node \(options.node) in the database was over: other nodes may have its jobs, and it takes its name again"
        )
        spawn { await $0.openAtLast() }
    }

    /// Looks whether somebody has changed a job that runs here.
    private func hear() async throws(StoreError) {
        guard !running.isEmpty else { return }
        let held = Array(running.values)
        let result = try await round(
            "look at running jobs",
            [
                PostgresStatement(
                    """
                    SELECT DISTINCT a.slot, a.seq FROM unnest($1::smallint[], $2::bigint[], $3::int[]) AS a(slot, seq, n)
                    JOIN \(statements.s).change c ON c.slot = a.slot AND c.seq = a.seq AND c.n > a.n
                    """,
                    [.int16s(held.map(\.slot)), .int64s(held.map(\.seq)), .int32s(held.map(\.n))]
                )
            ]
        )[0]
        let seqs = Set((0..<result.count).compactMap { result.int64($0, 1) })
        let changed = held.filter { seqs.contains($0.seq) }
        guard !changed.isEmpty else { return }
        var asked: [JobID] = []
        for row in try await rows(changed) {
            // The row that was read may be older than what this node has done since.
            guard let known = running[row.seq], row.n > known.n else { continue }
            if row.standing.machine.token == known.standing.machine.token {
                running[row.seq] = row
                if row.standing.machine.isCancelAsked { asked.append(row.id) }
            } else {
                running[row.seq] = nil
                asked.append(row.id)
            }
        }
        if !asked.isEmpty { events.asked(asked) }
    }

    /// Looks where jobs wait that another node has accepted, and which routes are paused.
    private func look() async throws(StoreError) {
        let (s, deferrals) = (statements.s, deferrals)
        let results = try await round(
            "look for work",
            [
                PostgresStatement(
                    """
                    WITH RECURSIVE l AS ((SELECT route FROM \(s).ready ORDER BY route LIMIT 1) UNION ALL
                    SELECT n.route FROM l, LATERAL (SELECT route FROM \(s).ready WHERE route > l.route ORDER BY route
                    LIMIT 1) n) SELECT route FROM l
                    """
                ),
                PostgresStatement(
                    "SELECT min(due) FROM \(s).deferred WHERE due >= $1",
                    [.int64(startOfDeferred())]
                ),
                PostgresStatement("SELECT id, name FROM \(s).route"),
                PostgresStatement("SELECT name, head FROM \(s).ring"),
            ]
        )
        takeRings(results[3])
        for row in 0..<results[2].count {
            if let id = results[2].int64(row, 0), let name = results[2].text(row, 1) {
                learn(name, Int32(clamping: id))
            }
        }
        let next = results[1].int64(0, 0)
        takeNextDeferred(next, asked: deferrals)
        // One that was committed late, or passed over under a lock.
        if let next { deferredFloor = min(deferredFloor, next) }
        // Others may have taken those before it.
        if deferrals == self.deferrals {
            deferredFloor = max(deferredFloor, min(next ?? .max, now).subtractingSaturating(Self.late))
        }
        var fresh: [String: FreshWork] = [:]
        for row in 0..<results[0].count {
            guard let route = results[0].int64(row, 0).map({ Int32(clamping: $0) }),
                let name = routeNames[route]
            else { continue }
            // Where lines are known nobody has to look: a claim finds out.
            if lines[route]?.isEmpty != false {
                guard try await hasWork(route) else { continue }
                lines[route]?.wasFound()
            }
            // How many wait is not known, nor whether who claims knows of any: it was told once, and may have got none.
            fresh[name] = FreshWork(hasDates: true)
        }
        if !fresh.isEmpty { events.ready(fresh) }
        try await takePauses()
    }

    /// From which time on entries of `deferred` may be: those that were taken away stay while somebody holds a snapshot.
    private func startOfDeferred() -> Int64 {
        if steady >= wholeDeferredAt {
            (wholeDeferredAt, longDeferredAt) = (steady + FleetLines.whole, steady + FleetLines.long)
            return .min
        }
        guard steady >= longDeferredAt else { return deferredFloor.subtractingSaturating(FleetLines.unheard) }
        longDeferredAt = steady + FleetLines.long
        return deferredFloor.subtractingSaturating(FleetLines.longest)
    }

    /// Takes up when the next entry of `deferred` is due, as the database has said; of what this node has put in since it
    /// was asked, when there were so many, that may not know.
    private func takeNextDeferred(_ next: Int64?, asked: Int) {
        nextDeferred = asked == deferrals ? next : [next, nextDeferred].compactMap(\.self).min()
    }

    /// Whether an entry of the route is good.
    private func hasWork(_ route: Int32) async throws(StoreError) -> Bool {
        let start = lines[route, default: FleetLines()].start(at: steady)
        let result = try await round(
            "look for work",
            [PostgresStatement(statements.hasWork, [.int32(route), .int64(start)])]
        )[0]
        if result.bool(0, 0) == true { return true }
        if let time = result.int64(0, 1) { lines[route]?.wasEmpty(at: time) }
        return false
    }

    func takePauses() async throws(StoreError) {
        let changes = pauseChanges
        let pauses = try await readPauses()
        // One of this node's own that was made meanwhile may be in them or not.
        guard changes == pauseChanges, pauses != self.pauses else { return }
        self.pauses = pauses
        events.paused(pauses)
    }

    /// Moves what is due to where it can be claimed.
    private func promoteAll() async {
        while !isClosing {
            var wait = min(max(1, (nextDeferred ?? .max).subtractingSaturating(now)), 100)
            do throws(StoreError) {
                try await promoteDue()
            } catch {
                trouble(error)
                wait = 500
            }
            try? await loop.sleep(until: loop.currentTime() + wait * 1_000_000)
        }
    }

    /// Moves all that is due now.
    func promoteDue() async throws(StoreError) {
        while let next = nextDeferred, next <= now { if try await !promote() { break } }
    }

    /// - Returns: whether there may be more.
    func promote() async throws(StoreError) -> Bool {
        // One that is under way has what is due, and nobody can see it yet.
        while isPromoting { try? await loop.sleep(until: loop.currentTime() + 1_000_000) }
        isPromoting = true
        defer { isPromoting = false }
        let (sent, floor, deferrals) = (steady, deferredFloor, deferrals)
        let result = try await round(
            "wake jobs",
            [
                PostgresStatement(
                    statements.promote(heads),
                    [.int64(floor), .int64(Self.promoted)]
                )
            ]
        )[0]
        var (taken, fresh): (Int64, [String: FreshWork]) = (0, [:])
        for row in 0..<result.count {
            observe(result.int64(row, 4), sent: sent)
            if let route = result.int64(row, 0).map({ Int32(clamping: $0) }),
                let party = result.int64(row, 5),
                let urgency = result.int64(row, 6), let first = result.int64(row, 2),
                let last = result.int64(row, 3)
            {
                let line = FleetLines.Line(party: party, urgency: Int16(clamping: urgency))
                let isFar = result.bool(row, 7) != false || steady < headsSettleAt
                let count = Int(result.int64(row, 1) ?? 0)
                lines[route, default: FleetLines()].wake(line, from: first, to: last, isFar: isFar)
                if let name = routeNames[route] { fresh[name, default: FreshWork()].jobs += count }
                hint(route, count, in: line, from: first, isFar: isFar)
            } else {
                taken = result.int64(row, 1) ?? 0
                if let last = result.int64(row, 2) { deferredFloor = max(deferredFloor, last - Self.late) }
                takeNextDeferred(result.int64(row, 3), asked: deferrals)
            }
        }
        if !fresh.isEmpty { events.ready(fresh) }
        return taken >= Self.promoted
    }
}
