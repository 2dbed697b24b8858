import RelayFleetBench
import RelayTestSupport

extension StoreKind {
    /// Its clock is the database's, which no step of the caller's moves.
    static let postgresql = StoreKind(
        "postgresql",
        .all.subtracting([.wallSteps, .rests, .removesSingly, .birthsExactly, .countsExactly, .turnsExactly])
    ) { try await PostgreSQLBench() }
}
