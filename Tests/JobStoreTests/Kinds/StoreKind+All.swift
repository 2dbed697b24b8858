import RelayTestSupport

extension StoreKind {
    /// Every store that the suite is run on; a further kind has a file beside this one, and its place in this line.
    static let all: [StoreKind] = [.sqlite, .memory, .postgresql, .pooled]

    /// Those that can do this.
    static func all(_ needed: StoreCapabilities) -> [StoreKind] {
        all.filter { $0.capabilities.isSuperset(of: needed) }
    }
}
