import RelayTestSupport

extension StoreKind {
    static let memory = StoreKind("memory", .all.subtracting([.spools, .rests])) { MemoryBench() }
}
