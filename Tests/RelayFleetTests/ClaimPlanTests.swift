import PostgresTestSupport
import RelayFleetBench
import RelayTestSupport
import Testing

@testable import RelayFleet

@Suite("The plans of statements that run often", .timeLimit(.minutes(2)))
struct ClaimPlanTests {
    @Test(
        "A claim looks for the changes of each entry by its position, also by a plan that was made of empty tables"
    )
    func empty() async throws {
        let nodes = try await Nodes()
        let statements = FleetStatements(
            schema: FleetSchema(nodes.schema, .init()),
            now: FleetStatements.clock
        )
        let session = try await nodes.session()
        defer { session.end() }
        try await session.run("SET plan_cache_mode = force_generic_plan")
        for isFar in [false, true] {
            try await session.run(
                """
                DO $plan$ DECLARE line text; seen int := 0; BEGIN
                EXECUTE $text$PREPARE claim_\(isFar) (int, bigint, bigint, text, bigint[], smallint[], int[], bigint[]) AS
                \(statements.claim(FleetHeads(), isFar: isFar))$text$;
                FOR line IN EXECUTE $text$EXPLAIN EXECUTE claim_\(isFar)(1, 1, 1, 'x', '{1}', '{1}', '{1}', '{1}')$text$ LOOP
                IF line LIKE '%using change_%' THEN seen := seen + 1; END IF;
                IF line LIKE '%Index Cond: (slot = %' THEN RAISE EXCEPTION '%', line; END IF;
                END LOOP;
                IF seen = 0 THEN RAISE EXCEPTION 'no index leads to the changes'; END IF;
                END $plan$
                """
            )
        }
    }

    @Test("A claim looks for each job by its position, also by a plan that was made where very many wait")
    func many() async throws {
        let nodes = try await Nodes()
        let statements = FleetStatements(
            schema: FleetSchema(nodes.schema, .init()),
            now: FleetStatements.clock
        )
        let server = nodes.server
        let text = nodes.named(
            """
            WITH j AS (INSERT INTO SCHEMA.job_0(slot, seq, id, route, created, state, standing, record)
            SELECT 0, nextval('SCHEMA.seq'), gen_random_uuid(), 1, 0, 1, '', '' FROM generate_series(1, 50000) RETURNING seq)
            INSERT INTO SCHEMA.ready_0(k, route, party, urgency, due, seq, n, slot, standing, minute, state)
            SELECT 0, 1, 0, 0, seq, seq, 0, 0, '', 0, 1 FROM j; ANALYZE SCHEMA.job_0; ANALYZE SCHEMA.ready_0
            """
        )
        _ = try await offPool { try server.sql(text) }
        let session = try await nodes.session()
        defer { session.end() }
        try await session.run("SET plan_cache_mode = force_generic_plan")
        for isFar in [false, true] {
            try await session.run(
                """
                DO $plan$ DECLARE line text; seen int := 0; looks boolean := false; BEGIN
                EXECUTE $text$PREPARE claim_\(isFar) (int, bigint, bigint, text, bigint[], smallint[], int[], bigint[]) AS
                \(statements.claim(FleetHeads(), isFar: isFar))$text$;
                FOR line IN EXECUTE $text$EXPLAIN EXECUTE claim_\(isFar)(1, 1, 1, 'x', '{1}', '{1}', '{1}', '{1}')$text$ LOOP
                IF looks AND line NOT LIKE '%Index Cond: %seq = %' THEN RAISE EXCEPTION '%', line; END IF;
                looks := line LIKE '% on job_%';
                seen := seen + looks::int;
                END LOOP;
                IF seen = 0 THEN RAISE EXCEPTION 'no index leads to the jobs'; END IF;
                END $plan$
                """
            )
        }
    }

    @Test(
        "Events of each daemon are looked for behind the last that was heard of, and not among those before it"
    )
    func events() async throws {
        let nodes = try await Nodes()
        let statements = FleetStatements(schema: FleetSchema(nodes.schema), now: FleetStatements.clock)
        let session = try await nodes.session()
        defer { session.end() }
        try await session.run(
            """
            DO $plan$ DECLARE line text; seen int := 0; BEGIN
            EXECUTE $text$PREPARE events (bigint[], bigint[], bigint) AS \(statements.events(1_000))$text$;
            FOR line IN EXECUTE $text$EXPLAIN EXECUTE events('{1}', '{1}', 2)$text$ LOOP
            IF line LIKE '%Index Cond: ((generation = %) AND (n > %' THEN seen := seen + 1; END IF;
            END LOOP;
            IF seen = 0 THEN RAISE EXCEPTION 'events are looked through from the first on'; END IF;
            END $plan$
            """
        )
    }
}
