/// The tables of a fleet's store, as `waystation store migrate` makes them.
///
/// A job is a row of `job` that never changes; each change of it is a row of `change` with the next number, so that of
/// two changes that meet one alone can be. `ready` and `deferred` lead to jobs that wait: an entry is good as long as
/// its job has no later change. Slots of the rings `job`, `ready` and `tally` are emptied by TRUNCATE, so that a
/// snapshot that somebody holds makes none of them grow.
package struct FleetSchema: Sendable {
    /// The name of the schema, quoted.
    package let name: String
    package let slots: Slots

    /// How many slots the rings have.
    package struct Slots: Hashable, Sendable {
        package var job = 16
        package var ready = 4
        package var tally = 4

        package init() {}
    }

    /// The slot of jobs that outlive theirs; rows of it are deleted.
    package static let keptSlot = 99
    /// The slot of entries that are due since before they were made; rows of it are deleted.
    package static let earlySlot = 99
    /// The slot of the sums of the others.
    package static let sumSlot = 99

    /// The version that `statements` make, and the oldest version of the daemon's that may use it.
    package static let version = 2
    package static let oldestReader = 1

    package init(_ schema: String, _ slots: Slots = Slots()) {
        name = Self.quoted(schema)
        self.slots = slots
    }

    /// A name within double quotes.
    package static func quoted(_ name: String) -> String {
        var quoted = "\""
        for character in name.unicodeScalars {
            quoted.unicodeScalars.append(character)
            if character == "\"" { quoted.unicodeScalars.append(character) }
        }
        return quoted + "\""
    }
}

extension FleetSchema {
    /// Each step by itself leaves a schema that every version from `oldestReader` on can use.
    package var statements: [String] {
        [
            "CREATE SCHEMA IF NOT EXISTS \(name)",
            "CREATE TABLE IF NOT EXISTS \(name).version(version int NOT NULL, oldest int NOT NULL)",
            """
            CREATE TABLE IF NOT EXISTS \(name).route(
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(name).home(
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(name).node(
            name text PRIMARY KEY, identity text NOT NULL, machine text NOT NULL, generation bigint NOT NULL,
            former bigint[] NOT NULL,
            lease bigint NOT NULL, until bigint NOT NULL, floor bigint NOT NULL, tokens bigint NOT NULL,
            held bigint[] NOT NULL, version text NOT NULL, routes int[] NOT NULL)
            """,
            "CREATE SEQUENCE IF NOT EXISTS \(name).generation",
            "CREATE SEQUENCE IF NOT EXISTS \(name).seq",
            "CREATE SEQUENCE IF NOT EXISTS \(name).turn_number",
            """
            CREATE TABLE IF NOT EXISTS \(name).ring(
            name text PRIMARY KEY, head smallint NOT NULL, turned bigint NOT NULL)
            """,
            "INSERT INTO \(name).ring VALUES ('job', 0, 0), ('ready', 0, 0), ('tally', 0, 0) ON CONFLICT DO NOTHING",
            """
            CREATE TABLE IF NOT EXISTS \(name).job(
            slot smallint NOT NULL, seq bigint NOT NULL, id uuid NOT NULL, route int NOT NULL, created bigint NOT NULL,
            party bigint NOT NULL DEFAULT 0, state smallint NOT NULL, generation bigint, standing bytea NOT NULL, record bytea NOT NULL, body bytea,
            file bytea, pieces bytea, attempts bytea, PRIMARY KEY (seq, slot), UNIQUE (id, slot)) PARTITION BY LIST (slot)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(name).change(
            slot smallint NOT NULL, seq bigint NOT NULL, n int NOT NULL, at bigint NOT NULL, state smallint NOT NULL,
            generation bigint, token bigint, upstream text, standing bytea NOT NULL, attempts bytea, action bytea,
            head bytea, body bytea, pieces bytea, PRIMARY KEY (seq, n, slot)) PARTITION BY LIST (slot)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(name).piece(
            slot smallint NOT NULL, body bytea NOT NULL, n int NOT NULL, generation bigint NOT NULL, bytes bytea NOT NULL,
            PRIMARY KEY (body, n, slot)) PARTITION BY LIST (slot)
            """,
        ] + jobSlots + [
            """
            CREATE TABLE IF NOT EXISTS \(name).ready(
            k smallint NOT NULL, route int NOT NULL, party bigint NOT NULL, urgency smallint NOT NULL,
            due bigint NOT NULL, seq bigint NOT NULL, n int NOT NULL, slot smallint NOT NULL, standing bytea NOT NULL,
            minute int NOT NULL, state smallint NOT NULL) PARTITION BY LIST (k)
            """
        ]
            + all(slots.ready, Self.earlySlot).flatMap { k in
                [
                    "CREATE TABLE IF NOT EXISTS \(name).ready_\(k) PARTITION OF \(name).ready FOR VALUES IN (\(k))",
                    """
                    CREATE INDEX IF NOT EXISTS ready_\(k)_line ON \(name).ready_\(k)(route, party, urgency, due, seq)
                    """,
                ]
            } + [
                """
                CREATE TABLE IF NOT EXISTS \(name).deferred(
                due bigint NOT NULL, seq bigint NOT NULL, n int NOT NULL, slot smallint NOT NULL, route int NOT NULL,
                party bigint NOT NULL, urgency smallint NOT NULL, standing bytea NOT NULL, minute int NOT NULL,
                state smallint NOT NULL)
                WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
                """,
                "CREATE INDEX IF NOT EXISTS deferred_due ON \(name).deferred(due, seq)",
                "CREATE INDEX IF NOT EXISTS deferred_route ON \(name).deferred(route, due)",
                """
                CREATE TABLE IF NOT EXISTS \(name).expiry(at bigint NOT NULL, seq bigint NOT NULL, slot smallint NOT NULL,
                PRIMARY KEY (at, seq))
                """,
                """
                CREATE TABLE IF NOT EXISTS \(name).key(
                hash bytea PRIMARY KEY, id uuid NOT NULL, fingerprint bytea NOT NULL, until bigint NOT NULL)
                """,
                "CREATE INDEX IF NOT EXISTS key_until ON \(name).key(until)",
                """
                CREATE TABLE IF NOT EXISTS \(name).turn(
                scope bytea NOT NULL, n bigint NOT NULL, seq bigint NOT NULL, slot smallint NOT NULL,
                PRIMARY KEY (scope, n))
                """,
                "CREATE INDEX IF NOT EXISTS turn_job ON \(name).turn(seq)",
                """
                CREATE TABLE IF NOT EXISTS \(name).tally(
                k smallint NOT NULL, route int NOT NULL, party bigint NOT NULL, state smallint NOT NULL,
                minute int NOT NULL, delta bigint NOT NULL) PARTITION BY LIST (k)
                """,
            ]
            + all(slots.tally, Self.sumSlot).map { k in
                "CREATE TABLE IF NOT EXISTS \(name).tally_\(k) PARTITION OF \(name).tally FOR VALUES IN (\(k))"
            } + [
                "CREATE TABLE IF NOT EXISTS \(name).pause(route text PRIMARY KEY, record bytea NOT NULL)",
                "CREATE TABLE IF NOT EXISTS \(name).reader(node text PRIMARY KEY, kinds text NOT NULL, until bigint NOT NULL)",
                """
                CREATE TABLE IF NOT EXISTS \(name).event(
                generation bigint NOT NULL, n bigint NOT NULL, stored bigint NOT NULL, at bigint NOT NULL, kind text NOT NULL,
                teller text NOT NULL, uid bigint, node text, route text, job bytea, data bytea NOT NULL,
                PRIMARY KEY (generation, n))
                """,
                "CREATE SEQUENCE IF NOT EXISTS \(name).run_number",
                "CREATE TABLE IF NOT EXISTS \(name).run(number bigint PRIMARY KEY, record bytea NOT NULL)",
                "CREATE TABLE IF NOT EXISTS \(name).owed(seq bigint PRIMARY KEY)",
                "UPDATE \(name).version SET version = \(Self.version) WHERE version < \(Self.version)",
                """
                INSERT INTO \(name).version SELECT \(Self.version), \(Self.oldestReader)
                WHERE NOT EXISTS (SELECT FROM \(name).version)
                """,
            ]
    }

    private func all(_ count: Int, _ last: Int) -> [Int] { Array(0..<count) + [last] }

    private var jobSlots: [String] {
        all(slots.job, Self.keptSlot).flatMap { slot in
            ["job", "change", "piece"].map { table in
                """
                CREATE TABLE IF NOT EXISTS \(name).\(table)_\(slot) PARTITION OF \(name).\(table)
                FOR VALUES IN (\(slot))
                """
            } + [
                """
                CREATE INDEX IF NOT EXISTS change_\(slot)_claimed ON \(name).change_\(slot)(generation, token)
                WHERE generation IS NOT NULL
                """,
                """
                CREATE INDEX IF NOT EXISTS job_\(slot)_pieces ON \(name).job_\(slot)(pieces) WHERE pieces IS NOT NULL
                """,
                """
                CREATE INDEX IF NOT EXISTS change_\(slot)_pieces ON \(name).change_\(slot)(pieces)
                WHERE pieces IS NOT NULL
                """,
                """
                CREATE INDEX IF NOT EXISTS change_\(slot)_side ON \(name).change_\(slot)(state, seq)
                WHERE state IN (4, 6, 7, 8)
                """,
            ]
        }
    }
}

extension FleetSchema {
    /// The rights of the role that daemons connect as, which makes no table.
    package func grants(to role: String) -> [String] {
        let role = Self.quoted(role)
        return [
            "GRANT USAGE ON SCHEMA \(name) TO \(role)",
            "GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA \(name) TO \(role)",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA \(name) TO \(role)",
        ]
    }
}
