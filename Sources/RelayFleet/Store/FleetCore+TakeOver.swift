import RelayBase
import RelayJobs
import RelayPostgres

/// Jobs whose node is dead, and claims of this node's that nobody here knows of.
extension FleetCore {
    private static let taken = 500

    private var s: String { statements.s }

    /// Takes over the jobs of nodes whose lease is over, and of earlier starts of this node.
    func takeOver() async throws(StoreError) {
        let own = options.node
        let results = try await round(
            "look for dead nodes",
            [
                PostgresStatement(
                    """
                    SELECT name, generation, floor, array_to_string(former, ',') FROM \(s).node WHERE name <> $1 AND until < \(statements.now)
                    """,
                    [.text(own)]
                ),
                PostgresStatement(
                    "SELECT EXISTS (SELECT FROM \(s).node WHERE name <> $1 AND until >= \(statements.now))",
                    [.text(own)]
                ),
            ]
        )
        let result = results[0]
        hasPeers = results[1].bool(0, 0) == true
        guard result.count > 0, lease.mayTakeOver(at: options.clock()) else { return }
        for row in 0..<result.count {
            guard let name = result.text(row, 0), let generation = result.int64(row, 1),
                let floor = result.int64(row, 2)
            else { continue }
            let generations = Self.numbers(result.text(row, 3)) + [generation]
            // Before anything of it is taken the name gets another generation: the node cannot renew its lease any more.
            let fenced = try await round(
                "take over a node",
                [
                    PostgresStatement(
                        """
                        UPDATE \(s).node SET former = former || generation, generation = nextval('\(s).generation')
                        WHERE name = $1 AND generation = $2 AND until < \(statements.now) RETURNING generation
                        """,
                        [.text(name), .int64(generation)]
                    )
                ]
            )[0]
            guard let dead = fenced.int64(0, 0) else { continue }
            while try await recover(generations, of: NodeName(name), from: floor) {}
            _ = try await round(
                "forget a node",
                [
                    PostgresStatement(
                        "DELETE FROM \(s).node WHERE name = $1 AND generation = $2",
                        [.text(name), .int64(dead)]
                    )
                ]
            )
        }
    }

    /// Recovers what earlier starts of this node had claimed: whoever holds its state directory knows that they are over.
    func recoverOwn() async throws(StoreError) {
        guard !former.isEmpty else { return }
        while try await recover(former, of: node, from: formerFloor) {}
        try await removeOrphans()
        _ = try await round(
            "forget earlier starts",
            [
                PostgresStatement(
                    "UPDATE \(s).node SET former = '{}' WHERE name = $1 AND generation = $2",
                    [.text(options.node), .int64(generation)]
                )
            ]
        )
        former = []
    }

    /// Takes a page of the jobs that the generations have claimed through a crash.
    ///
    /// - Returns: whether there may be more.
    private func recover(
        _ generations: [Int64],
        of node: NodeName,
        from floor: Int64
    ) async throws(StoreError) -> Bool {
        let result = try await round(
            "look for jobs of a dead node",
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (
                    (SELECT slot, seq FROM \(s).job j WHERE seq >= $1 AND generation = ANY($3::bigint[]) AND NOT EXISTS (
                    SELECT FROM \(s).change c WHERE c.slot = j.slot AND c.seq = j.seq OFFSET 0) LIMIT $2) UNION
                    (SELECT slot, seq FROM \(s).change a WHERE generation = ANY($3::bigint[]) AND NOT EXISTS (
                    SELECT FROM \(s).change b WHERE b.slot = a.slot AND b.seq = a.seq AND b.n > a.n OFFSET 0) LIMIT $2)) x
                    JOIN \(s).job j ON j.slot = x.slot AND j.seq = x.seq \(statements.lastChange)
                    """,
                    [.int64(floor), .int64(Int64(Self.taken)), .int64s(generations)]
                )
            ]
        )[0]
        let sound = try await sound(result)
        let rows = sound.filter { $0.standing.machine.state == .running && running[$0.seq] == nil }
        let changes = try await change(rows) { row, _ in
            var after = row.standing
            let begun = after.machine.begun
            guard row.standing.machine.state == .running, after.machine.recover(now: self.now) else {
                return nil
            }
            var change = FleetChange(row, after)
            if let begun {
                change.after.failureUpstream = begun.upstream
                change.attempts = [Attempt(interrupted: begun, number: 0)]
                change.attempts[0].node = node
            }
            if change.after.machine.state.isTerminal, change.after.dropsContent {
                change.after.hasBody = false
            }
            return change
        }
        let ended = changes.filter { $0.after.machine.state.isTerminal }
        if !ended.isEmpty { events.ended(ended.map { $0.row.report() }) }
        return result.count >= Self.taken && (!changes.isEmpty || sound.count < result.count)
    }

    /// Gives back the claims of this start that no reply has told of.
    func giveBackUnknown() async throws(StoreError) {
        guard acceptanceFloors.isEmpty, claimsUnderWay == 0 else { return }
        // A claim that comes while this is asked has a later number.
        let (limit, floor) = (Int64(bitPattern: takeTokens(1)), highestSeq)
        // A reply that is lost from here on is told of again.
        mayHoldUnknown = false
        do throws(StoreError) { try await giveBack(before: limit) } catch {
            mayHoldUnknown = true
            throw error
        }
        if !mayHoldUnknown { unknownFloor = floor }
    }

    private func giveBack(before limit: Int64) async throws(StoreError) {
        let result = try await round(
            "look for claims",
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (
                    (SELECT slot, seq FROM \(s).job j WHERE seq >= $1 AND generation = $2 AND NOT EXISTS (
                    SELECT FROM \(s).change c WHERE c.slot = j.slot AND c.seq = j.seq OFFSET 0)) UNION
                    (SELECT slot, seq FROM \(s).change a WHERE generation = $2 AND NOT EXISTS (
                    SELECT FROM \(s).change b WHERE b.slot = a.slot AND b.seq = a.seq AND b.n > a.n OFFSET 0))) x
                    JOIN \(s).job j ON j.slot = x.slot AND j.seq = x.seq \(statements.lastChange)
                    """,
                    [.int64(unknownFloor), .int64(generation)]
                )
            ]
        )[0]
        let rows = try await sound(result)
            .filter {
                $0.standing.machine.state == .running && running[$0.seq] == nil
                    && Int64(bitPattern: $0.standing.machine.token) < limit
            }
        _ = try await change(rows) { row, _ in
            var after = row.standing
            let token = after.machine.token
            guard self.running[row.seq] == nil, Int64(bitPattern: token) < limit,
                after.machine.giveUp(token: token, stays: true, now: self.now)
            else { return nil }
            return FleetChange(row, after)
        }
    }
}
