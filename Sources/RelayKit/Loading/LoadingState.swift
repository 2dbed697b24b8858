public import RelayBase

/// How far a value that is loaded again and again has come.
public enum LoadingState<Value: Sendable, ServerError: FailureInitializable>: Sendable {
    /// Nothing was asked for yet.
    case initial
    /// A request is under way; the last good value, where there was one.
    case loading(cached: Value?)
    /// The last request brought this value.
    case success(Value)
    /// The last request failed with that error; the last good value, where there was one.
    case failure(ServerError, cached: Value?)

    /// The newest value there is, whatever happened since it came.
    public var value: Value? {
        switch self {
        case .initial: nil
        case .loading(let cached), .failure(_, let cached): cached
        case .success(let value): value
        }
    }

    /// Whether a request is under way.
    public var isLoading: Bool { if case .loading = self { true } else { false } }

    /// Two states as one.
    ///
    /// - Parameters:
    ///   - other: its failure is taken only where this state has none.
    ///   - combine: called when both states have a value; without both the result has none.
    /// - Returns: loading when one of them loads, else failed when one of them failed, else initial when one of them
    ///   is, else a success.
    public func merged<Other, Both>(
        with other: LoadingState<Other, ServerError>,
        _ combine: (Value, Other) -> Both
    ) -> LoadingState<Both, ServerError> {
        var both: Both?
        if let value, let otherValue = other.value { both = combine(value, otherValue) }
        switch (self, other) {
        case (.loading, _), (_, .loading): return .loading(cached: both)
        case (.failure(let failure, _), _), (_, .failure(let failure, _)):
            return .failure(failure, cached: both)
        case (.initial, _), (_, .initial): return .initial
        case (.success, .success): return both.map { .success($0) } ?? .initial
        }
    }
}

/// How far a value of a ``PlainRequest`` has come.
public typealias PlainLoadingState<Value: Sendable> = LoadingState<Value, Failure>

extension LoadingState: Equatable where Value: Equatable {
    /// Whether stage and value are the same; one failure is like any other.
    public static func == (left: LoadingState, right: LoadingState) -> Bool {
        switch (left, right) {
        case (.initial, .initial): true
        case (.loading(let left), .loading(let right)): left == right
        case (.success(let left), .success(let right)): left == right
        case (.failure(_, let left), .failure(_, let right)): left == right
        default: false
        }
    }
}
