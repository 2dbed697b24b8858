package import PostgresTestSupport
import RelayBase
package import RelayFleet
package import RelayJobs
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Synchronization

/// Several nodes on one schema of the server that tests share, by the clocks as they are.
package final class Nodes: Sendable {
    package let schema: String
    package let server: PostgresServer
    private let library: PostgresLibrary
    private static let names = Atomic<Int>(0)

    /// On the server that tests share, or one of the test's own, where the test stops it.
    package init(_ server: PostgresServer? = nil) async throws {
        if let server { self.server = server } else { self.server = try await PostgresServer.shared() }
        library = try PostgresLibrary.open()
        schema = "nodes_\(Self.names.add(1, ordering: .relaxed).newValue)"
        let settings = self.server.settings(schema: schema)
        let library = library
        try await onLoop { loop in
            try await FleetMigration(settings, slots: Self.slots).run(library, on: loop)
        }
    }

    private static let slots = {
        var slots = FleetSchema.Slots()
        (slots.job, slots.ready, slots.tally) = (3, 2, 2)
        return slots
    }()

    /// A node that is open.
    package func open(
        _ name: String,
        identity: String? = nil,
        user: String? = nil,
        lease: Duration = .seconds(30),
        events: JobStoreEvents = JobStoreEvents(),
        _ change: (inout FleetOptions) -> Void = { _ in }
    ) async throws -> PostgreSQLJobStore {
        var options = FleetOptions(
            database: server.settings(schema: schema),
            node: name,
            identity: identity ?? name,
            machine: "machine-of-\(name)",
            version: "test",
            clock: { SystemClock.monotonic() }
        )
        if let user { options.database.user = user }
        options.connections = 3
        options.slots = Self.slots
        options.lease = lease
        change(&options)
        let store = try PostgreSQLJobStore.start(options, library, events: events)
        if let refusal = await store.opened(within: .seconds(30)) {
            await store.close()
            throw refusal
        }
        return store
    }

    /// Runs a statement beside the nodes, with the schema's name for SCHEMA.
    ///
    /// - Returns: the first value of its first row.
    @discardableResult
    package func sql(_ text: String) async throws -> Int64? {
        let connection = try await session()
        defer { connection.end() }
        return try await connection.run(named(text))
    }

    /// The text with the schema's name for SCHEMA.
    package func named(_ text: String) -> String {
        text.parts(between: "SCHEMA").joined(separator: "\"\(schema)\"")
    }

    /// A session beside the nodes, which lasts as long as the test needs it.
    package func session() async throws -> SideConnection {
        try await SideConnection(server.settings(schema: schema), library)
    }

    /// Ends the connections of all nodes again and again, as long as `goesOn` says so.
    package func cutConnections(while goesOn: () -> Bool) async throws {
        let connection = try await SideConnection(server.settings(schema: schema), library)
        defer { connection.end() }
        while goesOn() {
            try await connection.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waystation'"
            )
        }
    }
}

extension JobMoment {
    /// The present; a store of a fleet goes by its own clock.
    package static var present: JobMoment { JobMoment(wall: SystemClock.wall() / 1_000_000, steady: 0) }
}
