import RelayInterface

/// The parameters of the shape of the queue.
enum ShapeTable {
    /// The property that the jobs of a row share.
    enum Key: String, CaseIterable {
        case route
        case state
        case failureKind = "failure_kind"
    }

    static let by = ChoiceParameter(
        name: "by",
        values: Key.allCases.map { ($0.rawValue, $0) },
        doc: "What a row stands for: a route, a state, or the kind of what failed last."
    )
    static let route = TextParameter(
        name: "route",
        schema: .queryText,
        doc: "Counts only the jobs of this route."
    )
    static let parameters: [any QueryParameter] = [by, route]
}
