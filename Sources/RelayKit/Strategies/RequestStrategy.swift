public import RelayRoute

/// A program's own way to deal with a failed attempt, which sees the request as the program wrote it and the error
/// its caller would get.
///
/// It stands in a policy's `recovery` like a `RecoveryStrategy`, with the same bounds on attempts and time, and may send
/// another request whose value and error are of the same types: another target, other content, another way to read the
/// answer. ``RecoveryRule/recovering(_:on:methods:_:)`` makes one of a closure, for requests of one type.
///
/// ```swift
/// struct OldServer: RequestStrategy {
///     func recover<Response, ServerError>(
///         from failed: FailedRequest<Response, ServerError>,
///         context: RecoveryContext
///     ) async -> RequestDisposition<Response, ServerError> {
///         failed.failure.status == 404 ? .retry(failed.request.usingTarget("v1/books")) : .passOn
///     }
/// }
/// ```
public protocol RequestStrategy: Sendable {
    /// The strategy's name in the timeline and in `recovered by`; that of the type unless another is given.
    var name: String { get }

    /// Decides about one failure. Its time counts against the job's.
    ///
    /// - Parameters:
    ///   - failed: the request, the error of its own type, and the failure that is made of.
    ///   - context: what is left of the job; look here before doing anything costly.
    /// - Returns: what is to be done.
    func recover<Response, ServerError>(
        from failed: FailedRequest<Response, ServerError>,
        context: RecoveryContext
    ) async -> RequestDisposition<Response, ServerError>
}

extension RequestStrategy {
    /// The name of the type.
    public var name: String { String(describing: Self.self) }
}

/// A request whose attempt has failed.
public struct FailedRequest<Response: Sendable, ServerError: FailureInitializable>: Sendable {
    /// The request, as it was before any per-attempt preparation.
    public let request: Request<Response, ServerError>
    /// The error its caller gets unless something is done.
    public let error: ServerError
    /// The failure the error is made of: kind, verdict and answer.
    public let failure: Failure

    /// The failed request that a service would give a strategy; for a test of one.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - failure: what the attempt ended with.
    public init(_ request: Request<Response, ServerError>, failure: Failure) {
        self.request = request
        self.failure = failure
        error = request.error(of: request.mapFailure(failure))
    }

    /// Ends the job with an error of whatever type: with itself where it is one of the request's, and else with one made
    /// of the attempt's failure, whose ``Failure/underlying`` it then is.
    public func stopping(with own: some Error) -> RequestDisposition<Response, ServerError> {
        .stop(.made(of: (own as? Failure) ?? failure.carrying(own)))
    }
}

/// The step that a strategy asks for, in the types of its request.
public enum RequestDisposition<Response: Sendable, ServerError: FailureInitializable>: Sendable {
    /// Not mine: the next rule is asked.
    case passOn
    /// The job ends with that error, whatever the failure; no other rule is asked.
    case stop(ServerError)
    /// Send that request, after that wait, and make of its answer what it says.
    ///
    /// Its options and its preparation of the phase `job` stay those the job began with. Whether it may be sent, and
    /// when, is decided as for any strategy; see `RecoveryDisposition`.
    case retry(Request<Response, ServerError>, after: Duration = .zero)
}

/// A strategy of requests among the rules of the core, which know messages only: the job brings its request.
final class RequestAdviser: RecoveryStrategy {
    let strategy: any RequestStrategy
    let name: String

    init(_ strategy: some RequestStrategy) {
        self.strategy = strategy
        name = strategy.name
    }

    /// Nobody's request, nothing to say.
    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition { .passOn }
}

/// A closure that is asked about requests of its own types only.
struct ClosureStrategy<Value: Sendable, Problem: FailureInitializable>: RequestStrategy {
    typealias Body =
        @Sendable (FailedRequest<Value, Problem>, RecoveryContext) async -> RequestDisposition<Value, Problem>

    let name: String
    let body: Body

    func recover<Response, ServerError>(
        from failed: FailedRequest<Response, ServerError>,
        context: RecoveryContext
    ) async -> RequestDisposition<Response, ServerError> {
        guard let mine = failed as? FailedRequest<Value, Problem> else { return .passOn }
        return await body(mine, context) as? RequestDisposition<Response, ServerError> ?? .passOn
    }
}
