import RelayFleetBench
import RelayTestSupport

extension StoreKind {
    /// Its clock is the database's, which no step of the caller's moves.
    static let postgresql = StoreKind("postgresql", ofPostgreSQL) { try await PostgreSQLBench() }

    /// The same behind a pooler in transaction mode.
    static let pooled = StoreKind("postgresql, pooled", ofPostgreSQL) {
        try await PostgreSQLBench(pooled: true)
    }

    private static let ofPostgreSQL = StoreCapabilities.all.subtracting([
        .wallSteps, .rests, .removesSingly, .birthsExactly, .countsExactly, .turnsExactly, .tellsOnce,
    ])
}
