public import RelayBase

/// The error of a request: one that can be made from any failure, so that it may read status, fields and content
/// itself, and differently for each status.
///
/// An error of the same type that the program's own code has thrown, a validator, a step of preparation or a strategy
/// that stops, reaches the caller as it is.
public protocol FailureInitializable: Error {
    /// Takes the failure a job ended with; ``Failure/response`` is the upstream's answer, where there was one, and for
    /// the kind `decoding` ``Failure/underlying`` is the decoder's error.
    init(_ failure: Failure)
}

extension Failure: FailureInitializable {
    /// The failure itself.
    public init(_ failure: Failure) { self = failure }
}

extension FailureInitializable {
    /// The error a caller gets: one of its own that the failure carries, or one made of it.
    static func made(of failure: Failure) -> Self {
        if Self.self != Failure.self, let own = failure.underlying as? Self { return own }
        return Self(failure)
    }
}
