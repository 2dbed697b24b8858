/// The statements of a fleet's store, with the name of its schema in them: nothing depends on a setting of the session.
struct FleetStatements: Sendable {
    let schema: FleetSchema
    /// The database's present in milliseconds since 1970 UTC.
    let now: String

    var s: String { schema.name }

    static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// True where what is committed survives the crash of the server.
    static let isDurable = """
        (current_setting('synchronous_commit') IN ('on', 'remote_apply') \
        AND current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on')
        """

    /// The last change `c` of a job `j`.
    var lastChange: String {
        """
        LEFT JOIN LATERAL (SELECT c.n, c.state, c.standing, c.token, c.upstream, c.at, c.generation
        FROM \(s).change c WHERE c.slot = j.slot AND c.seq = j.seq ORDER BY c.n DESC LIMIT 1) c ON true
        """
    }

    /// Whether the entry `r` of `ready` or `deferred` is good: its job has no later change.
    func isGood(_ r: String) -> String {
        "NOT EXISTS (SELECT FROM \(s).change c WHERE c.slot = \(r).slot AND c.seq = \(r).seq AND c.n > \(r).n)"
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

    /// Puts those of the changed rows `w` where they wait, and counts them; `$k` and `$t` are the slots' parameters.
    private func consequences(_ k: String, _ t: String) -> String {
        """
        r AS (INSERT INTO \(s).ready(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
        SELECT CASE waiting WHEN 1 THEN \(k)::smallint ELSE \(FleetSchema.earlySlot) END, route, party, urgency,
        due, seq, n, slot, standing, minute, state
        FROM w WHERE waiting IN (1, 3)),
        d AS (INSERT INTO \(s).deferred(due, seq, n, slot, route, party, urgency, standing, minute, state)
        SELECT due, seq, n, slot, route, party, urgency, standing, minute, state FROM w WHERE waiting = 2),
        t AS (INSERT INTO \(s).tally(k, route, party, state, minute, delta)
        SELECT \(t)::smallint, route, party, state, minute, sum(delta) FROM (
        SELECT route, party, was AS state, minute_was AS minute, -1 AS delta FROM w WHERE was >= 0 UNION ALL
        SELECT route, party, state, minute_is, 1 FROM w WHERE state < \(FleetRow.movedState)) x
        GROUP BY route, party, state, minute HAVING sum(delta) <> 0)
        """
    }

    /// Accepts jobs: $1 slot, $2 slot of `ready`, $3 slot of `tally`, $4 whether a risk was accepted, then arrays:
    /// $5 ids, $6 routes, $7 created, $8 states, $9 generations, $10 standings, $11 records, $12 bodies, $13 files,
    /// $14 attempts, $15 waiting, $16 due, $17 parties, $18 urgencies, $19 expiries, $20 hashes of keys, $21 fingerprints,
    /// $22 how long the keys are known, $23 names of bodies in pieces.
    var accept: String {
        """
        WITH a AS (SELECT * FROM unnest($5::uuid[], $6::int[], $7::bigint[], $8::smallint[], $9::bigint[],
        $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bytea[], $15::smallint[], $16::bigint[],
        $17::bigint[], $18::smallint[], $19::bigint[], $20::bytea[], $21::bytea[], $22::bigint[], $23::bytea[])
        WITH ORDINALITY
        AS a(id, route, created, state, generation, standing, record, body, file, attempts, waiting, due, party, urgency,
        expires, hash, fingerprint, until, pieces, i) WHERE $4::boolean OR \(Self.isDurable)),
        q AS (INSERT INTO \(s).key AS k(hash, id, fingerprint, until)
        SELECT hash, id, fingerprint, until FROM a WHERE hash IS NOT NULL ORDER BY hash
        ON CONFLICT (hash) DO UPDATE SET id = excluded.id, fingerprint = excluded.fingerprint, until = excluded.until
        WHERE k.until <= \(now) AND k.id <> excluded.id RETURNING hash),
        j AS (INSERT INTO \(s).job(slot, seq, id, route, created, state, generation, standing, record, body, file,
        pieces, attempts)
        SELECT $1::smallint, nextval('\(s).seq'), id, route, created, state, generation, standing, record, body, file,
        pieces, attempts FROM (SELECT * FROM a WHERE hash IS NULL OR hash IN (SELECT hash FROM q) ORDER BY i) a
        ON CONFLICT (id, slot) DO NOTHING RETURNING id, seq, slot),
        w AS (SELECT a.*, j.seq, j.slot, 0 AS n, -1 AS was, (a.created / 60000)::int AS minute,
        0 AS minute_was, (a.created / 60000)::int AS minute_is FROM j JOIN a USING (id)),
        e AS (INSERT INTO \(s).expiry(at, seq, slot) SELECT expires, seq, slot FROM w WHERE expires IS NOT NULL),
        \(consequences("$2", "$3"))
        SELECT id, seq, \(now), true FROM j UNION ALL SELECT NULL, NULL, \(now), \(Self.isDurable)
        """
    }

    /// The jobs that idempotency keys stand for: $1 hashes; one of which it is settled that it is not there has none.
    var keys: String {
        "SELECT hash, id, fingerprint FROM \(s).key WHERE hash = ANY($1::bytea[]) AND until > 0"
    }

    /// Changes jobs: $1 slot of `ready`, $2 slot of `tally`, then arrays: $3 slots, $4 seqs, $5 numbers, $6 states,
    /// $7 generations, $8 standings, $9 attempts, $10 actions, $11 heads and $12 bodies of answers, $13 waiting, $14 due,
    /// $15 routes, $16 parties, $17 urgencies, $18 states before, $19 minutes of acceptance, $20 and $21 those under which
    /// they were counted before and are from now on, $22 names of answers' bodies in pieces,
    /// $23 the claims that are settled with them.
    ///
    /// It tells of those that were changed: of the others a later change is known.
    var change: String {
        """
        WITH a AS (SELECT * FROM unnest($3::smallint[], $4::bigint[], $5::int[], $6::smallint[], $7::bigint[],
        $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[], $13::smallint[], $14::bigint[], $15::int[],
        $16::bigint[], $17::smallint[], $18::smallint[], $19::int[], $20::int[], $21::int[], $22::bytea[],
        $23::bigint[])
        AS a(slot, seq, n, state, generation, standing, attempts, action, head, body, waiting, due, route, party, urgency,
        was, minute, minute_was, minute_is, pieces, token)),
        l AS (INSERT INTO \(s).change(slot, seq, n, at, state, generation, token, standing, attempts, action, head,
        body, pieces)
        SELECT slot, seq, n, \(now), state, generation, token, standing, attempts, action, head, body, pieces
        FROM (SELECT * FROM a ORDER BY slot, seq) a ON CONFLICT (seq, n, slot) DO NOTHING RETURNING slot, seq),
        w AS (SELECT a.* FROM a JOIN l USING (slot, seq)),
        \(consequences("$1", "$2"))
        SELECT slot, seq, \(now) FROM l
        """
    }
}

// MARK: Claims

extension FleetStatements {
    /// Claims jobs of a route: $1 route, $2 generation, $3 first token, $4 upstream, $5 slot of `tally`, then arrays:
    /// $6 parties, $7 urgencies, $8 how many, $9 due from.
    var claim: String {
        """
        WITH p AS (SELECT * FROM unnest($6::bigint[], $7::smallint[], $8::int[], $9::bigint[]) WITH ORDINALITY
        AS p(party, urgency, most, low, turn)),
        r AS MATERIALIZED (SELECT r.*, p.turn FROM p, LATERAL (SELECT r.slot, r.seq, r.n, r.due, r.standing, r.minute,
        r.party, r.state FROM \(s).ready r WHERE r.route = $1 AND r.party = p.party AND r.urgency = p.urgency
        AND r.due <= \(now) AND (r.due >= p.low OR r.k = \(FleetSchema.earlySlot)) AND \(isGood("r"))
        ORDER BY r.due, r.seq LIMIT p.most FOR UPDATE OF r SKIP LOCKED) r),
        l AS (INSERT INTO \(s).change(slot, seq, n, at, state, generation, token, upstream, standing)
        SELECT slot, seq, n + 1, \(now), 2, $2, $3 + row_number() OVER (ORDER BY slot, seq) - 1, $4, standing FROM r
        ORDER BY slot, seq ON CONFLICT (seq, n, slot) DO NOTHING
        RETURNING slot, seq, n, at, state, generation, token, upstream, standing),
        t AS (INSERT INTO \(s).tally(k, route, party, state, minute, delta)
        SELECT $5::smallint, $1, party, state, minute, sum(delta) FROM (
        SELECT r.party, r.state, r.minute, -1 AS delta FROM l JOIN r USING (slot, seq) UNION ALL
        SELECT r.party, 2, r.minute, 1 FROM l JOIN r USING (slot, seq)) x GROUP BY party, state, minute)
        SELECT \(FleetRow.columns), j.body, j.file, r.due, r.turn, \(now)
        FROM l c JOIN r USING (slot, seq) JOIN \(s).job j ON j.slot = c.slot AND j.seq = c.seq
        ORDER BY r.turn, r.due, c.seq
        """
    }

    /// The lines of a route that have something: $1 route.
    var lines: String {
        """
        WITH RECURSIVE l AS (
        (SELECT party, urgency FROM \(s).ready WHERE route = $1 ORDER BY party, urgency LIMIT 1)
        UNION ALL SELECT n.party, n.urgency FROM l, LATERAL (SELECT party, urgency FROM \(s).ready
        WHERE route = $1 AND (party, urgency) > (l.party, l.urgency) ORDER BY party, urgency LIMIT 1) n)
        SELECT party, urgency FROM l LIMIT 4096
        """
    }

    /// Moves to `ready` what is due, and wakes what was scheduled: $1 slot of `ready`, $2 slot of `tally`, $3 due from,
    /// $4 how many.
    ///
    /// It tells of each route how many may be claimed; and at last, without a route, of how many entries it has taken, the
    /// last that was due, and when the next is.
    var promote: String {
        """
        WITH d AS (DELETE FROM \(s).deferred WHERE ctid = ANY (ARRAY(SELECT ctid FROM \(s).deferred
        WHERE due <= \(now) AND due >= $3 ORDER BY due LIMIT $4 FOR UPDATE SKIP LOCKED)) RETURNING *),
        v AS (SELECT * FROM d WHERE \(isGood("d"))),
        u AS (INSERT INTO \(s).change(slot, seq, n, at, state, standing)
        SELECT slot, seq, n + 1, \(now), 1, standing FROM v WHERE state = 0 ON CONFLICT (seq, n, slot) DO NOTHING
        RETURNING slot, seq),
        w AS (SELECT v.*, u.seq IS NOT NULL AS woken FROM v LEFT JOIN u USING (slot, seq)
        WHERE state <> 0 OR u.seq IS NOT NULL),
        t AS (INSERT INTO \(s).tally(k, route, party, state, minute, delta)
        SELECT $2::smallint, route, party, x.state, minute, sum(delta) FROM w,
        LATERAL (VALUES (0, -1), (1, 1)) x(state, delta) WHERE woken GROUP BY route, party, x.state, minute),
        r AS (INSERT INTO \(s).ready(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
        SELECT CASE WHEN due < \(now) - \(Waiting.lateness) THEN \(FleetSchema.earlySlot) ELSE $1::smallint END,
        route, party, urgency, due, seq, n + woken::int, slot, standing, minute,
        CASE WHEN woken THEN 1 ELSE state END FROM (SELECT * FROM w ORDER BY due, seq) w RETURNING route)
        SELECT route, count(*), NULL::bigint, NULL::bigint, \(now) FROM r GROUP BY route
        UNION ALL SELECT NULL, (SELECT count(*) FROM d), (SELECT max(due) FROM d),
        (SELECT min(due) FROM \(s).deferred WHERE due > \(now)), \(now)
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
        JOIN \(s).job j ON j.slot = a.slot AND j.seq = a.seq \(lastChange)
        """
    }

    /// Jobs from a position on: $1 after, $2 how many, $3 up to.
    var oldest: String {
        """
        SELECT \(FleetRow.columns) FROM (SELECT * FROM \(s).job WHERE seq > $1 AND seq <= $3 ORDER BY seq LIMIT $2) j
        \(lastChange) ORDER BY j.seq
        """
    }

    /// The transactions that accept jobs, of those of $1 or of all: each has the lock before it has a position.
    var accepting: String {
        """
        SELECT string_agg(virtualtransaction, ',') FROM pg_locks WHERE locktype = 'relation' AND granted
        AND relation = '\(s).job'::regclass AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND ($1 = '' OR virtualtransaction = ANY(string_to_array($1, ',')))
        """
    }

    /// Jobs before a position: $1 before, $2 how many.
    var newest: String {
        """
        SELECT \(FleetRow.columns) FROM (SELECT * FROM \(s).job WHERE seq < $1 ORDER BY seq DESC LIMIT $2) j
        \(lastChange) ORDER BY j.seq DESC
        """
    }

    /// Jobs whose last change left them held, dead, cancelled or expired: $1 states, $2 the position to go on from, $3 how
    /// many; of the newest first, `isNewest`.
    func side(isNewest: Bool) -> String {
        let (than, order) = isNewest ? ("<", "DESC") : (">", "ASC")
        return """
            SELECT \(FleetRow.columns) FROM (SELECT x.slot, x.seq FROM unnest($1::smallint[]) s, LATERAL (
            SELECT x.slot, x.seq FROM \(s).change x WHERE x.state = s AND x.seq \(than) $2 AND NOT EXISTS (
            SELECT FROM \(s).change y WHERE y.slot = x.slot AND y.seq = x.seq AND y.n > x.n)
            ORDER BY x.seq \(order) LIMIT $3) x ORDER BY x.seq \(order) LIMIT $3) x
            JOIN \(s).job j ON j.slot = x.slot AND j.seq = x.seq \(lastChange) ORDER BY j.seq \(order)
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

    /// The request's body: $1 slot, $2 seq.
    var body: String { "SELECT body, file FROM \(s).job WHERE slot = $1 AND seq = $2" }
}
