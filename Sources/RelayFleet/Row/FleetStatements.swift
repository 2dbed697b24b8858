/// The statements of a fleet's store, with the name of its schema in them: nothing depends on a setting of the session.
struct FleetStatements: Sendable {
    let schema: FleetSchema
    /// The database's present in milliseconds since 1970 UTC.
    let now: String
    /// The risks that were accepted.
    var risks: FleetRisks = []

    var s: String { schema.name }

    static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// The present, once for a statement: what is compared with it is found by an index.
    var present: String { "(SELECT \(now))" }

    /// The last change `c` of a job `j`.
    var lastChange: String {
        """
        LEFT JOIN LATERAL (SELECT c.n, c.state, c.standing, c.token, c.upstream, c.at, c.generation
        FROM \(s).change c WHERE c.slot = j.slot AND c.seq = j.seq ORDER BY c.n DESC LIMIT 1) c ON true
        """
    }

    /// Joins the job `j` of each row `x`, found by its position, whatever number of rows a plan expects: of a claim it
    /// expects a tenth of all that wait, and would read all jobs in their order.
    func job(of x: String, in table: String = "job") -> String {
        "JOIN LATERAL (SELECT * FROM \(s).\(table) j WHERE j.slot = \(x).slot AND j.seq = \(x).seq LIMIT 1) j ON true"
    }

    /// Whether the entry `r` of `ready` or `deferred` is good: its job has no later change.
    func isGood(_ r: String) -> String { isGood(r, "change") }

    /// OFFSET has the job looked for by its index: a join that is planned while nothing is there yet looks through all
    /// changes for each entry.
    private func isGood(_ r: String, _ change: String, inSlot: Bool = true) -> String {
        """
        NOT EXISTS (SELECT FROM \(s).\(change) c WHERE \(inSlot ? "c.slot = \(r).slot AND " : "")c.seq = \(r).seq
        AND c.n > \(r).n OFFSET 0)
        """
    }
}

// MARK: Changes

extension FleetStatements {
    /// Where a changed job waits; the numbers are those of the parameter `waiting`.
    enum Waiting: Int16 {
        case none = 0
        case ready = 1
        case deferred = 2
        /// Due for longer than it has waited here.
        case early = 3
    }

    /// The tables that a batch needs besides those of the rows: a statement has no part that would do nothing.
    struct Parts: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let ready = Parts(rawValue: 1)
        static let early = Parts(rawValue: 2)
        static let deferred = Parts(rawValue: 4)
        static let keys = Parts(rawValue: 8)
        static let expiries = Parts(rawValue: 16)
        static let endings = Parts(rawValue: 32)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ waiting: [Waiting]) {
            self = waiting.reduce(into: []) { parts, waiting in
                switch waiting {
                case .none: break
                case .ready: parts.insert(.ready)
                case .deferred: parts.insert(.deferred)
                case .early: parts.insert(.early)
                }
            }
        }
    }

    /// Puts those of the changed rows `w` where they wait, and counts them.
    private func consequences(_ heads: FleetHeads, _ parts: Parts) -> String {
        var tables = ""
        if parts.contains(.ready) {
            tables += entries("r", of: "w WHERE waiting = 1", in: heads.ready) + ", "
        }
        if parts.contains(.early) {
            tables += entries("y", of: "w WHERE waiting = 3", in: Int16(FleetSchema.earlySlot)) + ", "
        }
        if parts.contains(.deferred) {
            tables += """
                d AS (INSERT INTO \(s).deferred(due, seq, n, slot, route, party, urgency, standing, minute, state)
                SELECT due, seq, n, slot, route, party, urgency, standing, minute, state FROM w WHERE waiting = 2),

                """
        }
        return tables
            + tally(
                heads,
                """
                SELECT route, party, was AS state, minute_was AS minute, -1 AS delta FROM w WHERE was >= 0 UNION ALL
                SELECT route, party, state, minute_is, 1 FROM w WHERE state < \(FleetRow.movedState)
                """
            )
    }

    private func entries(_ name: String, of rows: String, in slot: Int16) -> String {
        """
        \(name) AS (INSERT INTO \(s).ready_\(slot)(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
        SELECT \(slot), route, party, urgency, due, seq, n, slot, standing, minute, state FROM \(rows))
        """
    }

    private func tally(_ heads: FleetHeads, _ deltas: String) -> String {
        """
        t AS (INSERT INTO \(s).tally_\(heads.tally)(k, route, party, state, minute, delta)
        SELECT \(heads.tally), route, party, state, minute, sum(delta) FROM (\(deltas)) x
        GROUP BY route, party, state, minute HAVING sum(delta) <> 0)
        """
    }

    /// Accepts jobs, by arrays: $1 ids, $2 routes, $3 created, $4 states, $5 generations,
    /// $6 standings, $7 records, $8 bodies, $9 files, $10 attempts, $11 waiting, $12 due, $13 parties, $14 urgencies,
    /// $15 expiries, $16 hashes of keys, $17 fingerprints, $18 how long the keys are known, $19 names of bodies in pieces; and
    /// of changes that they go with, $20 slots, $21 seqs, $22 numbers, $23 standings.
    func accept(_ heads: FleetHeads, _ parts: Parts) -> String {
        let keys = parts.contains(.keys)
        let expiries = parts.contains(.expiries)
        let endings = parts.contains(.endings)
        return """
            WITH a AS (SELECT a.* FROM unnest($1::uuid[], $2::int[], $3::bigint[], $4::smallint[], $5::bigint[],
            $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], $11::smallint[], $12::bigint[],
            $13::bigint[], $14::smallint[], $15::bigint[], $16::bytea[], $17::bytea[], $18::bigint[], $19::bytea[])
            WITH ORDINALITY
            AS a(id, route, created, state, generation, standing, record, body, file, attempts, waiting, due, party, urgency,
            expires, hash, fingerprint, until, pieces, i) \(endings ? withEndings : "WHERE \(risks.isSafe)")),
            \(keys ? takeKeys : "")
            j AS (INSERT INTO \(s).job_\(heads.job)(slot, seq, id, route, created, party, state, generation, standing,
            record, body, file, pieces, attempts)
            SELECT \(heads.job), nextval('\(s).seq'), id, route, created, party, state, generation, standing, record, body,
            file, pieces, attempts FROM (SELECT * FROM a \(keys ? "WHERE hash IS NULL OR hash IN (SELECT hash FROM q)" : "")
            ORDER BY i) a ON CONFLICT (id, slot) DO NOTHING RETURNING id, seq, slot),
            w AS (SELECT a.*, j.seq, j.slot, 0 AS n, -1 AS was, (a.created / 60000)::int AS minute,
            0 AS minute_was, (a.created / 60000)::int AS minute_is FROM j JOIN a USING (id)),
            \(expiries ? takeExpiries : "")
            \(consequences(heads, parts))
            SELECT id, seq, \(now), true FROM j UNION ALL SELECT NULL, NULL, \(now), \(risks.isSafe)
            """
    }

    /// An ending is kept whatever the server is set to, and what tells of it with it: once, in whatever slot it is.
    private var withEndings: String {
        """
        JOIN unnest($20::smallint[], $21::bigint[], $22::int[], $23::bytea[]) WITH ORDINALITY
        AS x(slot, seq, n, standing, i) USING (i) WHERE \(isMade)
        AND NOT EXISTS (SELECT FROM \(s).job k WHERE k.id = a.id)
        """
    }

    private var takeKeys: String {
        """
        q AS (INSERT INTO \(s).key AS k(hash, id, fingerprint, until)
        SELECT hash, id, fingerprint, until FROM a WHERE hash IS NOT NULL ORDER BY hash
        ON CONFLICT (hash) DO UPDATE SET id = excluded.id, fingerprint = excluded.fingerprint, until = excluded.until
        WHERE k.until <= \(now) AND k.id <> excluded.id RETURNING hash),
        """
    }

    private var takeExpiries: String {
        "e AS (INSERT INTO \(s).expiry(at, seq, slot) SELECT expires, seq, slot FROM w WHERE expires IS NOT NULL),"
    }

    /// The jobs that idempotency keys stand for: $1 hashes; one of which it is settled that it is not there has none.
    var keys: String {
        "SELECT hash, id, fingerprint FROM \(s).key WHERE hash = ANY($1::bytea[]) AND until > 0"
    }

    /// Changes jobs of a slot, by arrays: $1 seqs, $2 numbers, $3 states, $4 generations, $5 standings, $6 attempts,
    /// $7 actions, $8 heads and $9 bodies of answers, $10 waiting, $11 due, $12 routes, $13 parties, $14 urgencies, $15 states
    /// before, $16 minutes of acceptance, $17 and $18 those under which they were counted before and are from now on,
    /// $19 names of answers' bodies in pieces, $20 the claims that are settled with them.
    ///
    /// It tells of those that were changed: of the others a later change is known.
    func change(_ slot: Int16, _ heads: FleetHeads, _ parts: Parts) -> String {
        """
        WITH a AS (SELECT \(slot)::smallint AS slot, a.* FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::bigint[],
        $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[], $10::smallint[], $11::bigint[], $12::int[],
        $13::bigint[], $14::smallint[], $15::smallint[], $16::int[], $17::int[], $18::int[], $19::bytea[],
        $20::bigint[])
        AS a(seq, n, state, generation, standing, attempts, action, head, body, waiting, due, route, party, urgency,
        was, minute, minute_was, minute_is, pieces, token)),
        l AS (INSERT INTO \(s).change_\(slot)(slot, seq, n, at, state, generation, token, standing, attempts, action, head,
        body, pieces)
        SELECT slot, seq, n, \(now), state, generation, token, standing, attempts, action, head, body, pieces
        FROM (SELECT * FROM a ORDER BY seq) a ON CONFLICT (seq, n, slot) DO NOTHING RETURNING seq),
        w AS (SELECT a.* FROM a JOIN l USING (seq)),
        \(consequences(heads, parts))
        SELECT seq, \(now) FROM l
        """
    }
}

// MARK: Claims

extension FleetStatements {
    /// Claims jobs of a route: $1 route, $2 generation, $3 first token, $4 upstream, then arrays: $5 parties, $6 urgencies,
    /// $7 how many, $8 due from.
    ///
    /// Unless it is far it claims jobs only of the slot that takes them now, by entries there: their tables have names, and of
    /// all others none is opened. The slot of its changes is left out then: by an index of which it is the last column, a
    /// plan that was made of empty tables would look through all of them for each entry. A body is left out where those
    /// before it fill a batch.
    func claim(_ heads: FleetHeads, isFar: Bool) -> String {
        let (job, change, ready) =
            isFar
            ? ("job", "change", "ready") : ("job_\(heads.job)", "change_\(heads.job)", "ready_\(heads.ready)")
        return """
            WITH p AS (SELECT * FROM unnest($5::bigint[], $6::smallint[], $7::int[], $8::bigint[]) WITH ORDINALITY
            AS p(party, urgency, most, low, turn)),
            r AS MATERIALIZED (SELECT r.*, p.turn FROM p, LATERAL (SELECT r.slot, r.seq, r.n, r.due, r.standing, r.minute,
            r.party, r.state FROM \(s).\(ready) r WHERE r.route = $1 AND r.party = p.party AND r.urgency = p.urgency
            AND r.due <= \(now) AND r.due >= p.low \(isFar ? "" : "AND r.slot = \(heads.job)")
            AND \(isGood("r", change, inSlot: isFar))
            ORDER BY r.due, r.seq LIMIT p.most FOR UPDATE OF r SKIP LOCKED) r),
            l AS (INSERT INTO \(s).\(change)(slot, seq, n, at, state, generation, token, upstream, standing)
            SELECT slot, seq, n + 1, \(now), 2, $2, $3 + row_number() OVER (ORDER BY slot, seq) - 1, $4, standing FROM r
            ORDER BY slot, seq ON CONFLICT (seq, n, slot) DO NOTHING
            RETURNING slot, seq, n, at, state, generation, token, upstream, standing),
            \(tally(heads, """
            SELECT $1::int AS route, r.party, r.state, r.minute, -1 AS delta FROM l JOIN r USING (slot, seq) UNION ALL
            SELECT $1, r.party, 2, r.minute, 1 FROM l JOIN r USING (slot, seq)
            """))
            SELECT \(FleetRow.columns), CASE WHEN sum(octet_length(j.body)) OVER (ORDER BY r.turn, r.due, c.seq)
            <= \(batchBytes) THEN j.body END, j.file, r.due, r.turn, \(now)
            FROM l c JOIN r USING (slot, seq) \(self.job(of: "c", in: job))
            ORDER BY r.turn, r.due, c.seq
            """
    }

    /// The first entry of each line that is good and due since $1, unless it is far in the slots that take what comes now.
    func fresh(_ heads: FleetHeads, isFar: Bool) -> String {
        let ready = isFar ? "\(s).ready" : "\(s).ready_\(heads.ready)"
        let change = isFar ? "\(s).change" : "\(s).change_\(heads.job)"
        return """
            WITH RECURSIVE l AS (
            (SELECT route, party, urgency FROM \(ready) ORDER BY route, party, urgency LIMIT 1)
            UNION ALL SELECT n.* FROM l, LATERAL (SELECT route, party, urgency FROM \(ready)
            WHERE (route, party, urgency) > (l.route, l.party, l.urgency) ORDER BY route, party, urgency LIMIT 1) n)
            SELECT l.route, l.party, l.urgency, r.due FROM (SELECT * FROM l LIMIT 1024) l, LATERAL (
            SELECT r.due FROM \(ready) r WHERE r.route = l.route AND r.party = l.party AND r.urgency = l.urgency
            AND r.due >= $1 AND r.due <= \(now) \(isFar ? "" : "AND r.slot = \(heads.job)") AND NOT EXISTS (
            SELECT FROM \(change) c WHERE \(isFar ? "c.slot = r.slot AND " : "")c.seq = r.seq AND c.n > r.n)
            ORDER BY r.due LIMIT 1) r
            """
    }

    /// Takes away the first entry of a line, which cannot be claimed: $1 route, $2 party, $3 urgency, $4 due from.
    var forget: String {
        """
        WITH x AS (SELECT r.due, r.seq, r.n FROM \(s).ready r WHERE route = $1 AND party = $2 AND urgency = $3
        AND due <= \(now) AND due >= $4 AND \(isGood("r")) ORDER BY due, seq LIMIT 1)
        DELETE FROM \(s).ready r USING x WHERE route = $1 AND party = $2 AND urgency = $3 AND r.due = x.due
        AND r.seq = x.seq AND r.n = x.n RETURNING slot, r.seq
        """
    }

    /// The lines of a route that have something, and from when on one of them has entries that were due before they were
    /// made: $1 route.
    var lines: String {
        """
        \(linesOfRoute)
        SELECT party, urgency, (SELECT min(due) FROM \(s).ready_\(FleetSchema.earlySlot) y WHERE y.route = $1
        AND y.party = l.party AND y.urgency = l.urgency), \(now) FROM l LIMIT 4096
        """
    }

    private var linesOfRoute: String {
        """
        WITH RECURSIVE l AS (
        (SELECT party, urgency FROM \(s).ready WHERE route = $1 ORDER BY party, urgency LIMIT 1)
        UNION ALL SELECT n.party, n.urgency FROM l, LATERAL (SELECT party, urgency FROM \(s).ready
        WHERE route = $1 AND (party, urgency) > (l.party, l.urgency) ORDER BY party, urgency LIMIT 1) n)
        """
    }

    /// Whether an entry of a route is good: $1 route, $2 due from, but for those that were due before they were made.
    var hasWork: String {
        """
        \(linesOfRoute)
        SELECT EXISTS (SELECT FROM l, LATERAL (SELECT FROM \(s).ready r WHERE route = $1 AND r.party = l.party
        AND r.urgency = l.urgency AND due >= $2 AND \(isGood("r")) LIMIT 1) x)
        OR EXISTS (SELECT FROM \(s).ready_\(FleetSchema.earlySlot) r WHERE route = $1 AND \(isGood("r"))), \(now)
        """
    }

    /// When the first good entry of a route was due: $1 route, $2 due from, but for those that were due before they were made.
    var firstDue: String {
        """
        \(linesOfRoute)
        SELECT min(due), \(now) FROM (SELECT x.due FROM l, LATERAL (SELECT due FROM \(s).ready r WHERE route = $1
        AND r.party = l.party AND r.urgency = l.urgency AND due >= $2 AND \(isGood("r")) ORDER BY due LIMIT 1) x
        UNION ALL SELECT due FROM \(s).ready_\(FleetSchema.earlySlot) r WHERE route = $1 AND \(isGood("r"))) x
        """
    }

    /// Moves to `ready` what is due, and wakes what was scheduled: $1 due from, $2 how many.
    ///
    /// It tells of each line how many may be claimed and when the first and the last was due, and whether in other slots than
    /// those that take what comes; and at last, without a route, of how many entries it has taken, the last that was due, and
    /// when the next is. An entry whose job has changed since then is moved as well: a claim passes it over.
    func promote(_ heads: FleetHeads) -> String {
        """
        WITH d AS (DELETE FROM \(s).deferred WHERE ctid = ANY (ARRAY(SELECT ctid FROM \(s).deferred
        WHERE due <= \(present) AND due >= $1 ORDER BY due LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING *),
        u AS (INSERT INTO \(s).change(slot, seq, n, at, state, standing)
        SELECT slot, seq, n + 1, \(now), 1, standing FROM d WHERE state = 0 ON CONFLICT (seq, n, slot) DO NOTHING
        RETURNING slot, seq),
        w AS MATERIALIZED (SELECT due, d.seq, n + (u.seq IS NOT NULL)::int AS n, d.slot, route, party, urgency, standing,
        minute, CASE WHEN u.seq IS NULL THEN state ELSE 1 END AS state, u.seq IS NOT NULL AS woken,
        due < \(now) - \(Waiting.lateness) AS early
        FROM d LEFT JOIN u USING (slot, seq) WHERE state <> 0 OR u.seq IS NOT NULL ORDER BY due, seq),
        \(tally(heads, """
        SELECT route, party, x.state, minute, x.delta FROM w, LATERAL (VALUES (0, -1), (1, 1)) x(state, delta) WHERE woken
        """)),
        \(entries("r", of: "w WHERE NOT early", in: heads.ready)),
        \(entries("y", of: "w WHERE early", in: Int16(FleetSchema.earlySlot)))
        SELECT route, count(*), min(due), max(due), \(now), party, urgency, bool_or(early OR slot <> \(heads.job)) FROM w
        GROUP BY route, party, urgency
        UNION ALL SELECT NULL, (SELECT count(*) FROM d), (SELECT max(due) FROM d),
        (SELECT min(due) FROM \(s).deferred WHERE due > \(present)), \(now), NULL, NULL, NULL
        """
    }
}

// MARK: Reading

extension FleetStatements {
    /// A job by its id: $1.
    var byID: String {
        "SELECT \(FleetRow.columns) FROM \(s).job j \(lastChange) WHERE j.id = $1"
    }

    /// Jobs by slot and position: $1 slots, $2 seqs.
    var bySeq: String {
        """
        SELECT \(FleetRow.columns) FROM unnest($1::smallint[], $2::bigint[]) AS a(slot, seq)
        \(job(of: "a")) \(lastChange)
        """
    }

    /// Jobs from a position on: $1 after, $2 how many, $3 up to; of those beyond an answer the record is left out.
    var oldest: String {
        """
        SELECT \(FleetRow.columns(record: FleetRow.bounded(by: "j.seq"))) FROM (
        SELECT * FROM \(s).job WHERE seq > $1 AND seq <= $3 ORDER BY seq LIMIT $2) j \(lastChange) ORDER BY j.seq
        """
    }

    /// The transactions that accept jobs, of those of $1 or of all: each has the lock before it has a position.
    var accepting: String {
        """
        SELECT string_agg(virtualtransaction, ',') FROM pg_locks WHERE locktype = 'relation' AND granted
        AND relation IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '\(s).job'::regclass
        UNION SELECT '\(s).job'::regclass) AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND ($1 = '' OR virtualtransaction = ANY(string_to_array($1, ',')))
        """
    }

    /// Jobs before a position: $1 before, $2 how many; of those beyond an answer the record is left out.
    var newest: String {
        """
        SELECT \(FleetRow.columns(record: FleetRow.bounded(by: "j.seq DESC"))) FROM (
        SELECT * FROM \(s).job WHERE seq < $1 ORDER BY seq DESC LIMIT $2) j \(lastChange) ORDER BY j.seq DESC
        """
    }

    /// Jobs whose last change left them held, dead, cancelled or expired: $1 states, $2 the position to go on from, $3 how
    /// many; of the newest first, `isNewest`.
    ///
    /// The states are named again, so that the index of those alone serves; where no record is given it is left out of
    /// those beyond an answer.
    func side(isNewest: Bool, record: String? = nil) -> String {
        let (than, order) = isNewest ? ("<", "DESC") : (">", "ASC")
        return """
            SELECT \(FleetRow.columns(record: record ?? FleetRow.bounded(by: "j.seq \(order)"))) FROM (
            SELECT x.slot, x.seq FROM unnest($1::smallint[]) s, LATERAL (
            SELECT x.slot, x.seq FROM \(s).change x WHERE x.state = s AND x.state IN (4, 6, 7, 8)
            AND x.seq \(than) $2 AND NOT EXISTS (SELECT FROM \(s).change y WHERE y.slot = x.slot AND y.seq = x.seq
            AND y.n > x.n OFFSET 0) ORDER BY x.seq \(order) LIMIT $3) x ORDER BY x.seq \(order) LIMIT $3) x
            \(job(of: "x")) \(lastChange) ORDER BY j.seq \(order)
            """
    }

    /// All that is kept of the changes of a job: $1 slot, $2 seq.
    var history: String {
        """
        SELECT 0, attempts, NULL::bytea, NULL::bytea, NULL::bytea FROM \(s).job WHERE slot = $1 AND seq = $2 UNION ALL
        SELECT n, attempts, action, head, body FROM \(s).change WHERE slot = $1 AND seq = $2
        AND (attempts IS NOT NULL OR action IS NOT NULL OR head IS NOT NULL) ORDER BY 1
        """
    }

    /// The standings of a job's changes, the last of them first, and that of its acceptance: $1 slot, $2 seq.
    var standings: String {
        """
        SELECT standing FROM (SELECT n, standing FROM \(s).change WHERE slot = $1 AND seq = $2 AND standing <> ''
        UNION ALL SELECT 0, standing FROM \(s).job WHERE slot = $1 AND seq = $2) x ORDER BY n DESC LIMIT 1000
        """
    }

    /// The request's body: $1 slot, $2 seq.
    var body: String { "SELECT body, file FROM \(s).job WHERE slot = $1 AND seq = $2" }
}
