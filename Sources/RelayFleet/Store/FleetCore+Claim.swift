import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords

extension FleetCore {
    /// Milliseconds after which all lines are looked through from the start, for what was committed later than that.
    private static let deep: Int64 = 30_000
    /// Milliseconds after which all entries of a route are looked at again.
    private static let rescan: Int64 = 5_000

    /// Numbers that no claim has had.
    func takeTokens(_ count: Int) -> UInt64 {
        let first = UInt64(generation) << FleetTokens.bits | nextToken
        nextToken += UInt64(count)
        return first
    }

    /// Whether a job that comes now may be claimed with its acceptance: nothing else of its route waits, as far as is known.
    func mayClaimNew(_ route: Int32) -> Bool {
        !isClosing && lease.maySend(at: options.clock()) && lines[route]?.isEmpty != false
            && nextDeferred ?? .max > now
    }

    /// The number of a claim for a job that comes now; nil where it has to wait.
    func tokenOfNew(_ route: Int32) -> UInt64? { mayClaimNew(route) ? takeTokens(1) : nil }

    /// Takes up that a job waits, here or elsewhere.
    func note(_ row: FleetRow, _ fresh: inout [String: FreshWork]) {
        let machine = row.standing.machine
        guard machine.isAwaited else { return }
        let now = now
        let waiting = FleetStatements.Waiting(machine, at: now)
        if waiting == .deferred {
            nextDeferred = min(nextDeferred ?? .max, machine.runAt)
            deferredFloor = min(deferredFloor, machine.runAt)
            deferrals += 1
            fresh[row.record.route, default: FreshWork()].add(dueAt: .max, now: now)
        } else {
            let line = FleetLines.Line(party: row.party, urgency: row.urgency)
            let low = min(machine.runAt, now)
            let isFar = waiting == .early || row.slot != heads.job || steady < headsSettleAt
            lines[row.route, default: FleetLines()].wake(line, at: low, isFar: isFar)
            fresh[row.record.route, default: FreshWork()].add(dueAt: machine.runAt, now: now)
            hint(row.route, in: line, from: low, isFar: isFar)
        }
    }

    func claim(_ route: String, limit: Int, upstream: String) async throws(StoreError) -> ClaimBatch {
        var batch = ClaimBatch()
        guard limit > 0, !isClosing, lease.maySend(at: options.clock()), let number = routes[route] else {
            return batch
        }
        try await promoteDue()
        if lines[number].map({ steady >= $0.rescanAt }) ?? true { try await rescan(number) }
        var ended: [JobChange] = []
        var given: [FleetLines.Line: [Claim]] = [:]
        let limit = min(limit, FleetLines.most)
        do throws(StoreError) {
            while let plan = lines[number]?.plan(limit, found: given.mapValues(\.count), at: steady) {
                let (found, plan) = try await claim(number, plan, upstream: upstream)
                for (index, line) in plan.lines.enumerated() {
                    for claim in found.claims where claim.turn == index {
                        if let claim = try await give(claim, &ended) {
                            given[line, default: []].append(claim)
                        }
                    }
                    let taken = found.taken[index]
                    lines[number]?
                        .settle(plan, index, found: taken?.count ?? 0, last: taken?.last, at: steady)
                }
            }
        } catch {
            // Claims that nobody gets go back; those that there are to give are given all the same.
            let handed = Set(given.values.joined().map(\.token.position))
            for (seq, row) in running
            where row.route == number && beingClaimed.contains(seq) && !handed.contains(seq) {
                running[seq] = nil
                beingClaimed.remove(seq)
                doubt(row.standing.machine.token)
            }
            if given.isEmpty { throw error }
        }
        for claim in given.values.joined() { beingClaimed.remove(claim.token.position) }
        var byLine = given.mapValues { $0[...] }
        for line in lines[number]?.took(given.mapValues(\.count)) ?? [] {
            if let claim = byLine[line]?.popFirst() { batch.claims.append(claim) }
        }
        if !ended.isEmpty { events.ended(ended) }
        if batch.claims.count < limit, nextDeferred != nil { batch.nextDue = try? await nextDue(number) }
        facts.operations += UInt64(batch.claims.count)
        if !batch.claims.isEmpty {
            pace.took()
            events.changed()
        }
        return batch
    }

    /// When the next job of the route is due that waits for its time.
    private func nextDue(_ route: Int32) async throws(StoreError) -> Int64? {
        let result = try await round(
            "look for the next job",
            [
                PostgresStatement(
                    """
                    SELECT due FROM \(statements.s).deferred d WHERE route = $1 AND due >= $2
                    AND \(statements.isGood("d")) ORDER BY due LIMIT 1
                    """,
                    [.int32(route), .int64(deferredFloor.subtractingSaturating(FleetLines.unheard))]
                )
            ]
        )[0]
        return result.count > 0 ? result.int64(0, 0) : nil
    }

    /// Looks which lines of a route there are.
    private func rescan(_ route: Int32) async throws(StoreError) {
        let results = try await round(
            "look for work",
            [PostgresStatement(statements.lines, [.int32(route)])]
        )
        var known = lines[route] ?? FleetLines()
        let result = results[0]
        let time = result.count > 0 ? result.int64(0, 3) ?? now : now
        let isDeep = steady >= known.deepAt
        let from = isDeep ? known.start(at: steady) : known.lookedAt - FleetLines.unheard
        var found: Set<FleetLines.Line> = []
        for row in 0..<result.count {
            guard let party = result.int64(row, 0), let urgency = result.int64(row, 1) else { continue }
            let line = FleetLines.Line(party: party, urgency: Int16(clamping: urgency))
            found.insert(line)
            known.wake(line, from: min(from, result.int64(row, 2) ?? .max), to: time, isFar: true)
        }
        known.keep(found)
        if isDeep { known.deepAt = steady + Self.deep }
        known.lookedAt = time
        known.rescanAt = steady + Self.rescan
        lines[route] = known
    }

    struct Claimed {
        let row: FleetRow
        /// As it stood before.
        let before: FleetStanding
        var body: [UInt8]?
        let file: [UInt8]?
        let turn: Int
    }

    /// The jobs that a claim has got.
    private struct Found {
        /// Those that can be read.
        var claims: [Claimed] = []
        /// Of each line how many, and when the last of them was due, whether or not they can be read.
        var taken: [Int: (count: Int, last: Int64)] = [:]
    }

    /// Claims by the plan; where the server refuses it for one job, by half of it, down to that job, which is put aside.
    ///
    /// - Returns: the claims, and the plan by which they were made.
    private func claim(
        _ route: Int32,
        _ plan: FleetLines.Plan,
        upstream: String
    ) async throws(StoreError) -> (Found, FleetLines.Plan) {
        var plan = plan
        let round = beginClaim()
        defer { endClaim(round) }
        while true {
            let (result, sent): (PostgresResult, Int64)
            do throws(PostgresError) { (result, sent) = try await claimRound(route, plan, upstream) } catch {
                guard error.blamesRow else { throw StoreError("claim jobs", error) }
                if let half = plan.half { plan = half } else { try await putAsideFirst(route, plan, error) }
                continue
            }
            return (try await take(result, sent: sent), plan)
        }
    }

    /// Sends the claim; where its reply is lost, jobs may be claimed that nobody here knows of.
    private func claimRound(
        _ route: Int32,
        _ plan: FleetLines.Plan,
        _ upstream: String
    ) async throws(PostgresError) -> (PostgresResult, sent: Int64) {
        let (sent, begun, generation) = (steady, loop.currentTime(), generation)
        let statementTimeout = options.statementTimeout
        let count = plan.counts.reduce(0, +)
        let first = Int64(bitPattern: takeTokens(count))
        let statement = PostgresStatement(
            statements.claim(heads, isFar: plan.isFar),
            [
                .int32(route), .int64(generation), .int64(first), .text(upstream),
                .int64s(plan.lines.map(\.party)),
                .int16s(plan.lines.map(\.urgency)),
                .int32s(plan.counts.map { Int32($0) }), .int64s(plan.lows),
            ]
        )
        do throws(PostgresError) {
            let result = try await pool.borrow("claim jobs") { connection throws(PostgresError) in
                let result = try await connection.run([statement], within: statementTimeout)[0]
                // The node has begun anew meanwhile, and takes up what it had.
                guard generation == self.generation else {
                    throw PostgresError(.lost, "the lease was over")
                }
                return result
            }
            if result.count > 0 { committed(since: begun) }
            return (result, sent)
        } catch {
            if !error.blamesRow, error.kind != .unreachable {
                doubts.add(first...first + Int64(count) - 1, arrival: arrival)
            }
            throw error
        }
    }

    /// Puts aside the first job of a line, of which the server refuses a claim.
    private func putAsideFirst(
        _ route: Int32,
        _ plan: FleetLines.Plan,
        _ error: PostgresError
    ) async throws(StoreError) {
        guard let line = plan.lines.first, let low = plan.lows.first else { return }
        let result = try await write(
            "put a job aside",
            [
                PostgresStatement(
                    statements.forget,
                    [.int32(route), .int64(line.party), .int16(line.urgency), .int64(low)]
                )
            ]
        )[0]
        guard let slot = result.int64(0, 0), let seq = result.int64(0, 1) else {
            throw StoreError("claim jobs", error)
        }
        let found = try await round(
            "put a job aside",
            [PostgresStatement(statements.bySeq, [.int16s([Int16(clamping: slot)]), .int64s([seq])])]
        )[0]
        let ended = try await change(all(found)) { row, _ in
            var after = row.standing
            return after.machine.quarantine(now: self.now) ? FleetChange(row, after) : nil
        }
        facts.corruptRecords += 1
        putAside += 1
        for change in ended {
            events.notice("job \(change.row.id) is put aside: it cannot be claimed: \(error.message)")
        }
        if !ended.isEmpty { events.ended(ended.map { $0.row.report() }) }
    }

    /// Takes up the jobs that a claim has got.
    private func take(_ result: PostgresResult, sent: Int64) async throws(StoreError) -> Found {
        var (found, damaged, tokens) = (Found(), [Damaged](), [UInt64]())
        let column = FleetRow.columnCount
        for index in 0..<result.count {
            observe(result.int64(index, column + 4), sent: sent)
            let turn = Int(result.int64(index, column + 3) ?? 1) - 1
            let count = found.taken[turn]?.count ?? 0
            found.taken[turn] = (count + 1, result.int64(index, column + 2) ?? 0)
            guard let row = try? FleetRow(result, index) else {
                if let row = Damaged(result, index) { damaged.append(row) }
                if let token = result.int64(index, 9) { tokens.append(UInt64(bitPattern: token)) }
                continue
            }
            found.claims.append(
                Claimed(
                    row: row,
                    before: (try? FleetStanding(sealed: result.bytes(index, 8) ?? [], for: row.id))
                        ?? row.standing,
                    body: result.bytes(index, column),
                    file: result.bytes(index, column + 1),
                    turn: turn
                )
            )
        }
        for claim in found.claims {
            running[claim.row.seq] = claim.row
            beingClaimed.insert(claim.row.seq)
        }
        // Nobody claims them again, whether that succeeds now or with the next look at them.
        do throws(StoreError) { try await putAside(damaged) } catch { for token in tokens { doubt(token) } }
        try await addBodies(&found.claims)
        return found
    }

    /// Reads the bodies that the reply to the claim has left out.
    private func addBodies(_ claims: inout [Claimed]) async throws(StoreError) {
        var left = FleetQueue<Int>()
        for (index, claim) in claims.enumerated()
        where claim.body == nil && claim.file == nil && claim.row.standing.hasBody { left.add(index) }
        while !left.isEmpty {
            let batch = left.take(.max, within: batchBytes) { Int(clamping: claims[$0].row.bodyLength) }
            let results = try await round(
                "read bodies",
                batch.map { index in
                    let row = claims[index].row
                    return PostgresStatement(statements.body, [.int16(row.slot), .int64(row.seq)])
                }
            )
            for (index, result) in zip(batch, results) where result.count > 0 {
                claims[index].body = result.bytes(0, 0)
            }
        }
    }

    /// The claimed job as its caller is to send it; nil of a job whose time ran out, that another one keeps back, or whose
    /// body is damaged.
    private func give(_ claim: Claimed, _ ended: inout [JobChange]) async throws(StoreError) -> Claim? {
        let row = claim.row
        let now = now
        if let time = row.standing.machine.expiresAt, time <= now {
            if let row = try await takeBack(claim, { $0.expire(now: now) }) { ended.append(row.report()) }
            return nil
        }
        if !row.scopes.isEmpty, try await isKeptBack(row) {
            // The other one may have gone in between, when nobody waited behind it yet.
            if let blocked = try await takeBack(claim, { $0.block() }), !(try await isKeptBack(blocked)) {
                _ = try await change([blocked]) { row, _ in
                    var after = row.standing
                    guard after.machine.reason == .ordering, after.machine.wake(now: self.now) else {
                        return nil
                    }
                    return FleetChange(row, after)
                }
            }
            return nil
        }
        let token = ClaimToken(id: row.id, position: row.seq, number: row.standing.machine.token)
        do throws(StoreError) {
            return Claim(token: token, job: row.job(), body: try body(of: row, claim.body, claim.file))
        } catch {
            facts.corruptRecords += 1
            putAside += 1
            if let row = try await takeBack(claim, { $0.quarantine(now: now) }) { ended.append(row.report()) }
            return nil
        }
    }

    /// Puts a change in the place of a claim that nobody is told of.
    private func takeBack(
        _ claim: Claimed,
        _ step: (inout JobStateMachine) -> Bool
    ) async throws(StoreError) -> FleetRow? {
        let token = claim.row.standing.machine.token
        defer {
            running[claim.row.seq] = nil
            beingClaimed.remove(claim.row.seq)
        }
        do throws(StoreError) {
            let changes = try await change([claim.row]) { row, _ in
                guard row.standing.machine.token == token else { return nil }
                var after = claim.before
                after.machine.wake(now: self.now)
                guard step(&after.machine) else { return nil }
                if after.machine.state.isTerminal, after.dropsContent { after.hasBody = false }
                var change = FleetChange(row, after)
                change.isUnclaimed = true
                return change
            }
            return changes.first?.row
        } catch {
            doubt(token)
            throw error
        }
    }

    /// Whether an older job with its supersede key is with the upstream, or one of its ordering key stands before it.
    private func isKeptBack(_ row: FleetRow) async throws(StoreError) -> Bool {
        let s = statements.s
        let scopes = row.scopes
        func bytes(_ kind: FleetScope.Kind) -> PostgresValue {
            .bytes(scopes.first { $0.kind == kind }?.bytes ?? [])
        }
        let result = try await round(
            "look at jobs of a key",
            [
                PostgresStatement(
                    """
                    SELECT EXISTS (SELECT FROM \(s).turn t \(statements.job(of: "t"))
                    \(statements.lastChange) WHERE t.scope = $1 AND t.seq < $3 AND coalesce(c.state, j.state) = 2)
                    OR EXISTS (SELECT FROM \(s).turn t WHERE t.scope = $2 AND t.n < (SELECT o.n FROM \(s).turn o
                    WHERE o.scope = $2 AND o.seq = $3))
                    """,
                    [bytes(.supersede), bytes(.ordering), .int64(row.seq)]
                )
            ]
        )[0]
        return result.bool(0, 0) == true
    }

    func body(of row: FleetRow, _ body: [UInt8]?, _ file: [UInt8]?) throws(StoreError) -> StoredBody {
        guard row.standing.hasBody else { return .expunged }
        if let body { return .bytes(try FleetContent.body(sealed: body, for: row.id)) }
        guard let file else { return .expunged }
        do throws(RecordReader.Damage) {
            var reader = try RecordReader(sealed: file, behind: Checksum(of: row.id))
            return .file(try reader.bodyFile())
        } catch { throw .damaged("the body of job \(row.id)") }
    }
}
