import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPostgres
import Synchronization
import Testing

@Suite("The schema of a fleet is made, added to and left alone", .timeLimit(.minutes(3)))
struct MigrationTests {
    private static let slots = {
        var slots = FleetSchema.Slots()
        (slots.job, slots.ready, slots.tally) = (1, 1, 1)
        return slots
    }()
    private static let names = Atomic<Int>(0)

    private static func name() -> String { "migration_\(names.add(1, ordering: .relaxed).newValue)" }

    private static func migrate(_ server: PostgresServer, _ name: String) async throws {
        let (settings, library) = (server.settings(schema: name), try PostgresLibrary.open())
        try await onLoop { loop in try await FleetMigration(settings, slots: slots).run(library, on: loop) }
    }

    private static func look(_ server: PostgresServer, _ name: String) async throws -> FleetMigration.Standing
    {
        let (settings, library) = (server.settings(schema: name), try PostgresLibrary.open())
        return try await onLoop { loop in
            try await FleetMigration(settings, slots: slots).look(library, on: loop)
        }
    }

    /// All of a schema: tables, columns, indexes, sequences, and the rows that it is made with.
    private static func catalog(_ server: PostgresServer, _ name: String) async throws -> String {
        let text = try await offPool {
            try server.sql(
                """
                SELECT c.relname, c.relkind, pg_get_expr(c.relpartbound, c.oid), c.reloptions FROM pg_class c
                WHERE relnamespace = '\(name)'::regnamespace ORDER BY 1;
                SELECT c.relname, attname, atttypid::regtype, attnotnull FROM pg_attribute
                JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = '\(name)'::regnamespace AND attnum > 0 ORDER BY 1, 2;
                SELECT indexdef FROM pg_indexes WHERE schemaname = '\(name)' ORDER BY 1;
                SELECT * FROM "\(name)".ring ORDER BY 1; SELECT * FROM "\(name)".version;
                """
            )
        }
        return text.parts(between: name).joined(separator: "S")
    }

    @Test("A migration that was cut off after any of its statements goes on when it is called again")
    func cutOff() async throws {
        let server = try await PostgresServer.shared()
        let whole = Self.name()
        try await Self.migrate(server, whole)
        let wanted = try await Self.catalog(server, whole)
        #expect(wanted.contains("job_0"))
        let count = FleetSchema(whole, Self.slots).statements.count
        for done in 0..<count {
            let name = Self.name()
            let statements = FleetSchema(name, Self.slots).statements.prefix(done)
            _ = try await offPool { try server.sql(statements.map { $0 + ";\n" }.joined()) }
            #expect(try await Self.look(server, name).version == nil)
            try await Self.migrate(server, name)
            #expect(try await Self.catalog(server, name) == wanted, "cut off after \(done) of \(count)")
        }
        // A last call has nothing to do.
        try await Self.migrate(server, whole)
        #expect(try await Self.catalog(server, whole) == wanted)
    }

    @Test("A schema that a newer version made is neither migrated nor, where it says so, used")
    func newer() async throws {
        let nodes = try await Nodes()
        let later = FleetSchema.version + 1
        try await nodes.sql("UPDATE SCHEMA.version SET version = \(later)")
        let before = try await Self.catalog(nodes.server, nodes.schema)
        let refusal = await #expect(throws: StoreError.self) {
            try await Self.migrate(nodes.server, nodes.schema)
        }
        #expect(refusal?.code == .newerSchema && refusal?.message.contains(nodes.schema) == true)
        #expect(try await Self.catalog(nodes.server, nodes.schema) == before)
        // It only adds: this version may use it.
        await (try await nodes.open("one")).close()
        try await nodes.sql("UPDATE SCHEMA.version SET oldest = \(later)")
        let closed = await #expect(throws: StoreError.self) {
            await (try await nodes.open("one")).close()
        }
        #expect(closed?.code == .newerSchema)
    }

    @Test("An index that the server has marked as not usable is found, and made anew")
    func invalidIndex() async throws {
        let server = try await PostgresServer.shared()
        let name = Self.name()
        try await Self.migrate(server, name)
        #expect(try await Self.look(server, name).invalidIndexes.isEmpty)
        _ = try await offPool {
            try server.sql(
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '\"\(name)\".deferred_due'::regclass"
            )
        }
        #expect(try await Self.look(server, name).invalidIndexes == ["\(name).deferred_due"])
        try await Self.migrate(server, name)
        let mended = try await Self.look(server, name)
        #expect(mended.invalidIndexes.isEmpty && mended.version == FleetSchema.version)
    }

    /// A later version's statements: each leaves a schema that this one can use.
    private static let further = [
        "ALTER TABLE SCHEMA.job ADD COLUMN further text",
        "ALTER TABLE SCHEMA.change ADD COLUMN further int DEFAULT 7",
        "ALTER TABLE SCHEMA.node ADD COLUMN further text",
        "ALTER TABLE SCHEMA.deferred ADD COLUMN further text",
        "ALTER TABLE SCHEMA.key ADD COLUMN further text", "CREATE TABLE SCHEMA.further(n int)",
        "CREATE INDEX further_of ON SCHEMA.job(further)", "UPDATE SCHEMA.version SET version = version + 1",
    ]

    @Test("Nodes go on while a later version adds to the schema, and others join them then")
    func expanding() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        var waiting = Set<JobID>()
        for (number, statement) in ([""] + Self.further).enumerated() {
            if !statement.isEmpty { try await nodes.sql(statement) }
            let id = JobID(milliseconds: JobMoment.present.wall, random: (11, UInt64(number)))
            let job = NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: .bytes([1]))
            #expect(try await one.enqueue([job], at: .present) == [.accepted], "\(statement)")
            waiting.insert(id)
            guard
                let claim = try await one.claim("hooks", limit: 1, upstream: "eu", at: .present).claims.first
            else {
                continue
            }
            #expect(
                try await one.settle([Settlement(claim.token, .succeeded)], at: .present) == [
                    .applied(.succeeded)
                ]
            )
            waiting.remove(claim.token.id)
        }
        let two = try await nodes.open("two")
        while !waiting.isEmpty {
            for store in [one, two] {
                for claim in try await store.claim("hooks", limit: 2, upstream: "eu", at: .present).claims {
                    let answers = try await store.settle([Settlement(claim.token, .succeeded)], at: .present)
                    #expect(answers == [.applied(.succeeded)])
                    #expect(waiting.remove(claim.token.id) != nil)
                }
            }
        }
        await one.close()
        await two.close()
    }

    @Test("A role with the rights that are printed, and no more, runs a node")
    func grants() async throws {
        let nodes = try await Nodes()
        let role = nodes.schema + "_role"
        let grants = FleetSchema(nodes.schema).grants(to: role)
        let server = nodes.server
        _ = try await offPool {
            try server.sql((["CREATE ROLE \(role) LOGIN"] + grants).map { $0 + ";\n" }.joined())
        }
        let store = try await nodes.open("one", user: role)
        let id = JobID(milliseconds: JobMoment.present.wall, random: (12, 1))
        let body = StoredBody.bytes([UInt8](repeating: 3, count: 300_000))
        let job = NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: body)
        #expect(try await store.enqueue([job], at: .present) == [.accepted])
        while try await store.job(id)?.state != .succeeded {
            for claim in try await store.claim("hooks", limit: 1, upstream: "eu", at: .present).claims {
                _ = try await store.settle([Settlement(claim.token, .succeeded)], at: .present)
            }
        }
        _ = try await store.sweep(Retention(), limit: 100, at: .present)
        #expect(try await store.facts().absence == nil)
        await store.close()
        // The control: it makes no table.
        let error = await #expect(throws: ProgramError.self) {
            _ = try await offPool {
                try server.sql("SET ROLE \(role); CREATE TABLE \(nodes.schema).further(n int)")
            }
        }
        #expect(error?.description.contains("permission denied") == true)
    }
}
