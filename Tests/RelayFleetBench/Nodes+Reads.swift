import RelayTestSupport

extension Nodes {
    /// The rows and entries of indexes that statements have read, once no node has a session any more.
    package func entriesRead() async throws -> Int64 {
        let session = try await session()
        defer { session.end() }
        let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'waystation%'"
        try await until { try await session.run(left) == 0 }
        return try await session.run(
            """
            SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)::bigint
            + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)::bigint
            """
        ) ?? 0
    }
}
