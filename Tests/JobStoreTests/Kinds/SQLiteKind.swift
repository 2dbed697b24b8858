import RelayStoreBench
import RelayTestSupport

extension StoreKind {
    static let sqlite = StoreKind("sqlite", .all) { try await SQLiteBench() }
}
