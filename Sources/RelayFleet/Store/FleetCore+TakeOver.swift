import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords

/// Jobs whose node is dead, and claims of this node's that nobody here knows of.
extension FleetCore {
    private static let taken = 500
    /// Rows that one statement looks through at most.
    private static let looked: Int64 = 20_000

    private var s: String { statements.s }

    /// Takes over the jobs of nodes whose lease is over, and of earlier starts of this node.
    func takeOver() async throws(StoreError) {
        let (own, asked) = (options.node, options.clock())
        let results = try await round(
            "look for dead nodes",
            [
                PostgresStatement(
                    """
                    SELECT name, generation, \(Self.reachColumns) FROM \(s).node WHERE name <> $1 AND until < \(statements.now)
                    """,
                    [.text(own)]
                ),
                PostgresStatement(
                    """
                    SELECT EXISTS (SELECT FROM \(s).node WHERE name <> $1 AND until >= \(statements.now)),
                    (SELECT string_agg(kinds, ',') FROM \(s).reader WHERE node <> $1 AND until >= \(statements.now)),
                    \(statements.now)
                    """,
                    [.text(own)]
                ),
            ]
        )
        let result = results[0]
        hasPeers = results[1].bool(0, 0) == true
        view.show(wanted: results[1].text(0, 1) ?? "")
        if let time = results[1].int64(0, 2) { look(at: time, asked: asked) }
        guard result.count > 0, lease.mayTakeOver(at: options.clock()) else { return }
        for row in 0..<result.count {
            guard let name = result.text(row, 0), let generation = result.int64(row, 1) else { continue }
            let (former, reach) = Self.reach(result, row, from: 2)
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
            try await recover(former + [generation], of: NodeName(name), from: reach)
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

    /// Whether the database's clock, which says `time`, has gone on like the node's own since it was last looked at.
    private func look(at time: Int64, asked: Int64) {
        let now = options.clock()
        if let last = lastLook, time - last.time > (now - last.asked + lease.lease / 10) / 1_000_000 {
            lease.jumped(at: now)
        }
        lastLook = (time, asked)
    }

    /// Recovers what earlier starts of this node had claimed: whoever holds its state directory knows that they are over.
    func recoverOwn() async throws(StoreError) {
        guard !former.isEmpty else { return }
        try await recover(former, of: node, from: formerReach)
        try await removeOrphans()
        (formerReach.held, formerHorizon) = ([], FleetHorizon(arrival: arrival))
    }

    /// Once no statement of earlier starts may commit any more, takes what came of the last ones and forgets the starts.
    func forgetFormer() async throws(StoreError) {
        guard !former.isEmpty, steady >= formerHorizon.arrival else { return }
        let asked = steady
        let open = try await round("look for open transactions", [statements.open])[0]
        guard let low = open.int64(0, 0), let next = open.int64(0, 1),
            formerHorizon.isOver(asked: asked, low: low, next: next)
        else { return }
        let over = former
        try await recover(over, of: node, from: formerReach)
        _ = try await round(
            "forget earlier starts",
            [
                PostgresStatement(
                    "UPDATE \(s).node SET former = '{}' WHERE name = $1 AND generation = $2",
                    [.text(options.node), .int64(generation)]
                )
            ]
        )
        if former == over { former = [] }
    }

    /// The columns of `node` that `reach` takes.
    static let reachColumns = "array_to_string(former, ','), floor, tokens, array_to_string(held, ',')"

    static func reach(_ result: PostgresResult, _ row: Int, from column: Int) -> ([Int64], FleetReach) {
        (
            numbers(result.text(row, column)),
            FleetReach(
                floor: result.int64(row, column + 1) ?? 0,
                tokens: result.int64(row, column + 2) ?? 0,
                held: numbers(result.text(row, column + 3))
            )
        )
    }

    /// From where on claims of this start may stand in the database, whoever holds them.
    var reach: FleetReach {
        var reach = FleetReach(
            floor: min(acceptanceFloors.values.min() ?? .max, highestSeq),
            tokens: min(claimFloors.values.min() ?? .max, lowestToken),
            held: Array(running.keys)
        )
        reach.add(doubts.reach)
        if !former.isEmpty { reach.add(formerReach) }
        return reach
    }

    /// Takes the jobs that the generations have claimed through a crash.
    private func recover(
        _ generations: [Int64],
        of node: NodeName,
        from reach: FleetReach
    ) async throws(StoreError) {
        while try await recover(generations, of: node, held: reach.held) {}
        let end = try await round(
            "look for jobs of a dead node",
            [PostgresStatement("SELECT last_value FROM \(s).seq")]
        )
        let last = end[0].int64(0, 0) ?? 0
        var seq = reach.floor
        while seq <= last {
            while try await recover(generations, of: node, seqs: seq...seq + Self.looked - 1) {}
            seq += Self.looked
        }
        for generation in generations {
            var token = reach.tokens
            while let last = try await lastToken(of: generation, from: token) {
                while try await recover([generation], of: node, tokens: token...last) {}
                token = last + 1
            }
        }
    }

    /// The number of the last claim of so many as one statement looks through; there are many numbers of which none came.
    private func lastToken(of generation: Int64, from token: Int64) async throws(StoreError) -> Int64? {
        let result = try await round(
            "look for jobs of a dead node",
            [
                PostgresStatement(
                    """
                    SELECT max(token) FROM (SELECT token FROM \(s).change WHERE generation = $1 AND token >= $2
                    ORDER BY token LIMIT \(Self.looked)) x
                    """,
                    [.int64(generation), .int64(token)]
                )
            ]
        )[0]
        return result.int64(0, 0)
    }

    /// Takes some of the jobs of a page.
    ///
    /// - Returns: whether there may be more.
    private func recover(
        _ generations: [Int64],
        of node: NodeName,
        seqs: ClosedRange<Int64>? = nil,
        tokens: ClosedRange<Int64>? = nil,
        held: [Int64] = []
    ) async throws(StoreError) -> Bool {
        let result = try await round(
            "look for jobs of a dead node",
            [
                PostgresStatement(
                    statements.claimed(
                        """
                        (SELECT slot, seq FROM \(s).job WHERE seq >= $2 AND seq <= $3 AND generation = ANY($1::bigint[])) UNION
                        (SELECT slot, seq FROM \(s).change WHERE generation = ANY($1::bigint[]) AND token >= $4
                        AND token <= $5) UNION (SELECT j.slot, j.seq FROM unnest($6::bigint[]) AS h(seq), LATERAL (
                        SELECT slot, seq FROM \(s).job j WHERE j.seq = h.seq LIMIT 2) j)
                        """,
                        limit: Self.taken
                    ),
                    [
                        .int64s(generations), .int64(seqs?.lowerBound ?? 1), .int64(seqs?.upperBound ?? 0),
                        .int64(tokens?.lowerBound ?? 1), .int64(tokens?.upperBound ?? 0), .int64s(held),
                    ]
                )
            ]
        )[0]
        let sound = try await sound(result)
        let rows = sound.filter { $0.standing.machine.state == .running && !holds($0) }
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

    /// Gives back the claims of this start that no reply has told of, whatever else is claimed meanwhile.
    func giveBackUnknown() async throws(StoreError) {
        guard !doubts.isEmpty else { return }
        let (asked, claims) = (steady, doubts.claims)
        let results = try await round(
            "look for claims",
            [
                statements.open,
                PostgresStatement(
                    statements.claimed(
                        """
                        (SELECT a.slot, a.seq FROM unnest($2::bigint[], $3::bigint[]) AS d(low, high), LATERAL (SELECT slot, seq
                        FROM \(s).change WHERE generation = ANY($1::bigint[]) AND token >= d.low AND token <= d.high) a) UNION
                        (SELECT slot, seq FROM \(s).job WHERE id = ANY($4::uuid[]))
                        """,
                        limit: Self.taken
                    ),
                    [
                        .int64s(former + [generation]), .int64s(claims.map(\.tokens.lowerBound)),
                        .int64s(claims.map(\.tokens.upperBound)), .uuids(doubts.ids.map(\.bytes)),
                    ]
                ),
            ]
        )
        let rows = try await sound(results[1])
            .filter { row in !holds(row) && doubts.has(row.standing.machine.token, of: row.id) }
        let changes = try await change(rows) { row, _ in
            var after = row.standing
            let token = after.machine.token
            guard !self.holds(row), self.doubts.has(token, of: row.id),
                after.machine.giveUp(token: token, stays: true, now: self.now)
            else { return nil }
            return FleetChange(row, after)
        }
        // One whose end somebody asked for meanwhile has ended.
        let ended = changes.filter { $0.after.machine.state.isTerminal }
        if !ended.isEmpty { events.ended(ended.map { $0.row.report() }) }
        // The next look tells whether that was all.
        guard rows.isEmpty, results[1].count < Self.taken, let low = results[0].int64(0, 0),
            let next = results[0].int64(0, 1)
        else { return }
        doubts.looked(asked: asked, low: low, next: next)
    }
}

extension FleetStatements {
    /// The oldest transaction that is open, and the first that has not begun: a later look sees what is over by then.
    fileprivate var open: PostgresStatement {
        PostgresStatement(
            """
            SELECT pg_snapshot_xmin(x)::text::bigint, pg_snapshot_xmax(x)::text::bigint FROM pg_current_snapshot() x
            """
        )
    }

    /// The jobs among `rows` that a generation of $1 has claimed, each looked at by its position.
    fileprivate func claimed(_ rows: String, limit: Int) -> String {
        """
        SELECT \(FleetRow.columns) FROM (\(rows)) x \(job(of: "x")) \(lastChange)
        WHERE CASE WHEN c.n IS NULL THEN j.generation ELSE c.generation END = ANY($1::bigint[]) ORDER BY j.seq LIMIT \(limit)
        """
    }
}
