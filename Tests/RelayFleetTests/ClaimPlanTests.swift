import RelayFleetBench
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
