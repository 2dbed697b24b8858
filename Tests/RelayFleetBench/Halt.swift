import RelayTestSupport

/// A place in the database at which sessions wait until the test lets them go on.
package final class Halt: Sendable {
    private let nodes: Nodes
    private let session: SideConnection

    /// A session that inserts such a row into the table waits: in the statement, or in its COMMIT.
    package init(_ nodes: Nodes, _ table: String, when condition: String, inCommit: Bool) async throws {
        self.nodes = nodes
        session = try await nodes.session()
        try await session.run("SELECT count(pg_advisory_lock(\(Self.lock(nodes))))")
        try await nodes.sql(
            """
            CREATE OR REPLACE FUNCTION SCHEMA.halt() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(\(Self.lock(nodes))); RETURN NEW; END'
            """
        )
        let kind = inCommit ? "CONSTRAINT TRIGGER halt AFTER" : "TRIGGER halt BEFORE"
        try await nodes.sql(
            """
            CREATE \(kind) INSERT ON SCHEMA.\(table) \(inCommit ? "DEFERRABLE INITIALLY DEFERRED" : "")
            FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION SCHEMA.halt()
            """
        )
    }

    /// One for each schema: tests share the server.
    private static func lock(_ nodes: Nodes) -> Int {
        nodes.schema.utf8.reduce(4_711) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
    }

    /// Returns once somebody waits there.
    ///
    /// - Returns: its process.
    package func reached() async throws -> Int32 {
        var process: Int64?
        try await until {
            process = try await session.run(
                """
                SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid::bigint = \(Self.lock(nodes))
                LIMIT 1
                """
            )
            return process != nil
        }
        return Int32(clamping: process ?? 0)
    }

    package func letGo() async throws {
        try await session.run("SELECT count(pg_advisory_unlock(\(Self.lock(nodes))))")
        session.end()
    }
}
