package import Testing

/// Which clauses of the inventory of capabilities a test shows; the documentation's table is made from it.
///
/// No suite has one: a clause is shown by what a single test can see fail.
package struct Clauses: TestTrait {
    package let ids: [String]
}

extension Trait where Self == Clauses {
    /// The ids of the clauses, such as `G1-05` or `N-12`.
    package static func clauses(_ ids: String...) -> Clauses { Clauses(ids: ids) }
}
