package import Testing

/// Which clauses of the inventory of capabilities a test shows; the documentation's table is made from it.
package struct Clauses: TestTrait, SuiteTrait {
    package let ids: [String]
}

extension Trait where Self == Clauses {
    /// The ids of the clauses, such as `G1-05` or `N-12`.
    package static func clauses(_ ids: String...) -> Clauses { Clauses(ids: ids) }
}
