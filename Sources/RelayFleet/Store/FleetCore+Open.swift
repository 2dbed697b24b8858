import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

extension FleetCore {
    /// Nanoseconds between two tries to open.
    private static let pause: Int64 = 500_000_000

    /// Opens the store as soon as that can be; meanwhile the reason stands in `refusal`.
    func openAtLast() async {
        while !isClosing, refusal != nil {
            do throws(StoreError) {
                try await open()
                try await recoverOwn()
                try await tellRoutes()
                refusal = nil
                startBeating()
            } catch {
                refusal = error
                if !error.mayPass { return events.fatal(error) }
                trouble(error)
                try? await loop.sleep(until: loop.currentTime() + Self.pause)
            }
        }
    }

    /// Waits for the store to be open, for a time.
    ///
    /// - Returns: the reason why it is not.
    func opened(within: Duration) async -> StoreError? {
        let end = loop.currentTime() + within.saturatedNanoseconds
        while refusal?.mayPass == true, !isClosing, loop.currentTime() < end {
            try? await loop.sleep(until: min(end, loop.currentTime() + 10_000_000))
        }
        return refusal
    }

    /// The facts, and why the database is away where it is.
    var standing: StoreFacts {
        var facts = facts
        facts.statements = pool.statementCount
        var database = DatabaseFacts(node: options.node)
        (database.renewedAt, database.lease) = (renewedAt, options.lease)
        (database.connections, database.connects) = (pool.count, pool.connects)
        (database.roundTrips, database.notificationQueue) = (pool.lent, notificationQueue)
        database.putAside = putAside
        database.holder = holder.flatMap { steady - $0.seen >= Self.lookInterval ? $0.holder : nil }
        facts.database = database
        facts.absence = (refusal ?? pool.trouble)?.message
        facts.refusesSince = facts.absence == nil ? nil : awaySince
        return facts
    }

    /// Shows the present to other threads.
    func publish() { view.show(standing, refusal) }

    func checkOpen() throws(StoreError) {
        if isClosing { throw .closed }
        if let refusal { throw refusal }
    }

    /// Takes a generation for this start, and what the database says of itself.
    ///
    /// - Throws: `newerSchema` where only a newer version may use the schema, `locked` while another process that has the
    ///   node's name may hold a lease.
    func open() async throws(StoreError) {
        let sent = steady
        let began = options.clock()
        let results = try await round(
            "open the store",
            [
                PostgresStatement("SELECT version, oldest, \(statements.now) FROM \(statements.s).version"),
                PostgresStatement("SELECT name, head FROM \(statements.s).ring"),
                PostgresStatement("SELECT id, name FROM \(statements.s).route"),
                PostgresStatement("SELECT \(options.risks.found)"),
                PostgresStatement("SELECT min(due) FROM \(statements.s).deferred"),
            ]
        )
        guard results[0].count > 0, let oldest = results[0].int64(0, 1) else {
            throw .away("open the store", "it has no version; run `waystation store migrate`")
        }
        guard oldest <= Int64(FleetSchema.version) else {
            throw StoreError(
                .newerSchema,
                "cannot open the store in the database: its schema needs a newer version of waystationd; it is left as it is"
            )
        }
        guard let found = results[0].int64(0, 0), found >= FleetSchema.version else {
            throw .away(
                "open the store",
                "its schema is of an earlier version; run `waystation store migrate`"
            )
        }
        let risks = results[3].text(0, 0) ?? ""
        guard risks.isEmpty else {
            throw .away(
                "open the store",
                "it may lose what it has accepted (\(risks)); turn on there what is off, or name each risk in accept_risk"
            )
        }
        observe(results[0].int64(0, 2), sent: sent)
        takeRings(results[1])
        nextDeferred = results[4].int64(0, 0)
        for row in 0..<results[2].count {
            if let id = results[2].int64(row, 0), let name = results[2].text(row, 1) {
                learn(name, Int32(clamping: id))
            }
        }
        if !options.sharesUsers {
            home = FleetHome(number: Int64(try await number(of: options.node, in: "home")), name: node)
        }
        try await register(began: began)
        try await takePauses()
    }

    /// Milliseconds for which other nodes, and statements that are under way, may know of the heads before.
    private static let settling: Int64 = 1_500

    func takeRings(_ rings: PostgresResult) {
        turn { heads in
            for row in 0..<rings.count {
                let head = Int16(clamping: rings.int64(row, 1) ?? 0)
                switch rings.text(row, 0) {
                case "job"?: heads.job = head
                case "ready"?: heads.ready = head
                case "tally"?: heads.tally = head
                default: break
                }
            }
        }
    }

    /// Other slots take what comes from now on.
    func turn(_ change: (inout FleetHeads) -> Void) {
        var heads = heads
        change(&heads)
        if heads.job != self.heads.job || heads.ready != self.heads.ready {
            headsSettleAt = steady + Self.settling
            for route in Array(lines.keys) { lines[route]?.turn(at: now) }
        }
        self.heads = heads
    }

    func learn(_ route: String, _ number: Int32) {
        routes[route] = number
        routeNames[number] = route
    }

    /// The number of a route, which gets one where it has none.
    func number(of route: String) async throws(StoreError) -> Int32 {
        if let known = routes[route] { return known }
        let id = try await number(of: route, in: "route")
        learn(route, id)
        return id
    }

    /// The number that a table gives a name for ever.
    private func number(of name: String, in table: String) async throws(StoreError) -> Int32 {
        let results = try await round("name a \(table)", naming(name, in: table))
        guard let id = results[1].int64(0, 0) else { throw .away("name a \(table)", "it was not kept") }
        return Int32(clamping: id)
    }

    /// The statements that give a name its number where it has none, and tell it.
    func naming(_ name: String, in table: String) -> [PostgresStatement] {
        [
            PostgresStatement(
                """
                INSERT INTO \(statements.s).\(table)(name) SELECT $1 WHERE NOT EXISTS (
                SELECT FROM \(statements.s).\(table) WHERE name = $1) ON CONFLICT (name) DO NOTHING
                """,
                [.text(name)]
            ),
            PostgresStatement("SELECT id FROM \(statements.s).\(table) WHERE name = $1", [.text(name)]),
        ]
    }

    /// Makes this process the node: its name is free, or was this node's own, or its lease is over.
    private func register(began: Int64) async throws(StoreError) {
        let lease = options.lease.saturatedNanoseconds / 1_000_000
        // A node that has taken over the earlier starts has removed their row: what they have sent may come all the same.
        let earlier = former.isEmpty ? FleetReach(floor: .max, tokens: 0) : formerReach
        let results = try await round(
            "take the node's name",
            [
                PostgresStatement(
                    """
                    INSERT INTO \(statements.s).node AS n(name, identity, machine, generation, former, lease, until, floor, tokens,
                    held, version, routes) VALUES ($1, $2, $3, nextval('\(statements.s).generation'), $6, $4, \(statements.now) + $4,
                    least($7, (SELECT last_value FROM \(statements.s).seq)), $8, $9, $5, '{\(Self.allRoutes)}')
                    ON CONFLICT (name) DO UPDATE SET identity = excluded.identity, machine = excluded.machine,
                    generation = excluded.generation, former = n.former || n.generation, lease = excluded.lease, until = excluded.until,
                    version = excluded.version WHERE n.identity = excluded.identity OR n.until < \(statements.now)
                    RETURNING generation, (SELECT last_value FROM \(statements.s).seq), \(Self.reachColumns)
                    """,
                    [
                        .text(options.node), .text(options.identity), .text(options.machine), .int64(lease),
                        .text(options.version), .int64s(former), .int64(earlier.floor),
                        .int64(earlier.tokens),
                        .int64s(earlier.held),
                    ]
                ),
                PostgresStatement(
                    "SELECT identity, machine FROM \(statements.s).node WHERE name = $1",
                    [.text(options.node)]
                ),
            ]
        )
        guard let number = results[0].int64(0, 0) else {
            throw StoreError(
                .locked,
                "cannot take the node's name \(options.node) in the database: a daemon on the machine "
                    + "\(results[1].text(0, 1) ?? "?") has it; give each node a name and a state directory of its own"
            )
        }
        generation = number
        if firstGeneration == 0 { firstGeneration = number }
        highestSeq = results[0].int64(0, 1) ?? 0
        let (known, reach) = Self.reach(results[0], 0, from: 2)
        if former.isEmpty { formerReach = reach } else { formerReach.add(reach) }
        former += known.filter { !former.contains($0) }
        self.lease.renewed(sent: began)
    }

    /// Numbers that commas separate.
    static func numbers(_ text: String?) -> [Int64] {
        (text ?? "").parts(between: ",").compactMap { Int64($0) }
    }
}
