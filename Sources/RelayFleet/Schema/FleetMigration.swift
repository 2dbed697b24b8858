package import RelayBase
package import RelayPosix
package import RelayPostgres

/// The making of the tables, by a role that may: each statement is a transaction of its own, and one that is there already
/// does nothing, so that a migration that was cut off goes on when it is called again.
package struct FleetMigration: Sendable {
    private let settings: PostgresSettings
    private let schema: FleetSchema
    private let statementTimeout: Duration

    package init(
        _ settings: PostgresSettings,
        slots: FleetSchema.Slots = FleetSchema.Slots(),
        statementTimeout: Duration = .seconds(60)
    ) {
        self.settings = settings
        self.statementTimeout = statementTimeout
        schema = FleetSchema(settings.schema, slots)
    }

    /// The version of the schema that is there; nil where there is none.
    package struct Standing: Sendable, Equatable {
        package var version: Int?
        /// Indexes that the server has marked as not usable.
        package var invalidIndexes: [String] = []
    }

    /// Looks, and changes nothing.
    package func look(_ library: PostgresLibrary, on loop: EventLoop) async throws(StoreError) -> Standing {
        try await connected(library, loop) { connection throws(PostgresError) in
            try await standing(connection)
        }
    }

    /// Makes what is missing.
    ///
    /// - Throws: `newerSchema` where a newer version made it; it is then left as it is.
    package func run(_ library: PostgresLibrary, on loop: EventLoop) async throws(StoreError) {
        let newer = try await connected(library, loop) { connection throws(PostgresError) in
            let before = try await standing(connection)
            guard before.version ?? 0 <= FleetSchema.version else { return true }
            for statement in schema.statements {
                _ = try await connection.run(
                    [
                        PostgresStatement("BEGIN"),
                        PostgresStatement("SET LOCAL lock_timeout = '5s'"),
                        PostgresStatement(
                            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
                            [.text(schema.name)]
                        ),
                        PostgresStatement(statement),
                        PostgresStatement("COMMIT"),
                    ],
                    within: statementTimeout
                )
            }
            for index in before.invalidIndexes {
                _ = try await connection.run(
                    [PostgresStatement("REINDEX INDEX \(index)")],
                    within: statementTimeout
                )
            }
            return false
        }
        guard !newer else {
            throw StoreError(
                .newerSchema,
                "cannot migrate the schema \(schema.name): a newer version of waystation made it; it is left as it is"
            )
        }
    }

    private func connected<Value>(
        _ library: PostgresLibrary,
        _ loop: EventLoop,
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(StoreError) -> Value {
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(
                settings,
                library,
                on: loop,
                within: .seconds(10)
            )
            defer { connection.close() }
            return try await body(connection)
        } catch { throw StoreError("migrate", error) }
    }

    private func standing(_ connection: PostgresConnection) async throws(PostgresError) -> Standing {
        let results = try await connection.run(
            [
                PostgresStatement("SELECT to_regclass($1) IS NOT NULL", [.text("\(schema.name).version")]),
                PostgresStatement(
                    """
                    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
                    AND NOT i.indisvalid AND i.indisready AND c.relkind = 'i'
                    """,
                    [.text(settings.schema)]
                ),
            ],
            within: statementTimeout
        )
        var standing = Standing()
        standing.invalidIndexes = (0..<results[1].count).compactMap { results[1].text($0, 0) }
        guard results[0].bool(0, 0) == true else { return standing }
        let version = try await connection.run(
            [PostgresStatement("SELECT version FROM \(schema.name).version")],
            within: statementTimeout
        )
        standing.version = version[0].int64(0, 0).map { Int($0) }
        return standing
    }

    /// The statements that give the daemon's role its rights.
    package func grants(to role: String) -> [String] { schema.grants(to: role) }
}
