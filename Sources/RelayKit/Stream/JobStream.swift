import RelayBase
public import RelayCore

extension RelayService {
    /// Sends every request of a sequence and reports exactly one outcome for each.
    ///
    /// No failure ends the stream: it is the outcome of its own job. Requests are read only while fewer than
    /// `maxConcurrent` jobs are under way or wait to be reported, so both sides are held back. Leaving the loop over the
    /// stream, or cancelling its task, cancels every job under way.
    ///
    /// - Parameters:
    ///   - requests: read one at a time; an error it throws ends the stream after the outcomes of what was read.
    ///   - maxConcurrent: jobs under way at once; below 1 it is 1.
    ///   - order: of the outcomes; in the order of the input a slow job holds back those behind it.
    ///   - key: names what a request is about; a newer request of the same key cancels the one before it, whose outcome
    ///     then is a failure of the kind `cancelled`. Nil for a request that supersedes nothing. A request supersedes
    ///     once it is read, so this needs a `maxConcurrent` above 1.
    /// - Returns: the outcomes, one for each request that was read.
    public func outcomes<Requests: AsyncSequence & Sendable, Value, ServerError>(
        of requests: Requests,
        maxConcurrent: Int = 8,
        order: JobOrder = .completion,
        superseding key: (@Sendable (Request<Value, ServerError>) -> String?)? = nil
    ) -> JobStream<Requests, Value, ServerError> where Requests.Element == Request<Value, ServerError> {
        JobStream(service: self, requests: requests, limit: maxConcurrent, order: order, key: key)
    }

    /// Sends every request of an array, or of another sequence that is there already, and reports exactly one outcome
    /// for each.
    ///
    /// - Parameters:
    ///   - requests: read one at a time.
    ///   - maxConcurrent: jobs under way at once; below 1 it is 1.
    ///   - order: of the outcomes; in the order of the input a slow job holds back those behind it.
    ///   - key: names what a request is about; a newer request of the same key cancels the one before it.
    /// - Returns: the outcomes, one for each request that was read.
    @_disfavoredOverload
    public func outcomes<Requests: Sequence & Sendable, Value, ServerError>(
        of requests: Requests,
        maxConcurrent: Int = 8,
        order: JobOrder = .completion,
        superseding key: (@Sendable (Request<Value, ServerError>) -> String?)? = nil
    ) -> JobStream<ReadyRequests<Requests>, Value, ServerError>
    where Requests.Element == Request<Value, ServerError> {
        outcomes(of: ReadyRequests(requests), maxConcurrent: maxConcurrent, order: order, superseding: key)
    }
}

/// Requests that are there already, as something to be read.
public struct ReadyRequests<Requests: Sequence & Sendable>: AsyncSequence, Sendable
where Requests.Element: Sendable {
    /// A request.
    public typealias Element = Requests.Element
    /// Reading does not fail.
    public typealias Failure = Never

    let requests: Requests

    init(_ requests: Requests) { self.requests = requests }

    /// Begins with the first.
    public func makeAsyncIterator() -> Iterator { Iterator(requests: requests.makeIterator()) }

    /// Gives the requests one by one.
    public struct Iterator: AsyncIteratorProtocol {
        var requests: Requests.Iterator

        /// The next request; nil after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Requests.Element? { requests.next() }

        /// The next request; nil after the last.
        public mutating func next() async -> Requests.Element? { requests.next() }
    }
}

/// The outcomes of a sequence of requests; see ``RelayService/outcomes(of:maxConcurrent:order:superseding:)->JobStream<Requests,Value,ServerError>``.
public struct JobStream<
    Requests: AsyncSequence & Sendable,
    Value: Sendable,
    ServerError: FailureInitializable
>: AsyncSequence, Sendable where Requests.Element == Request<Value, ServerError> {
    /// One outcome for each request.
    public typealias Element = JobOutcome<Value, ServerError>
    /// The error that the sequence of requests throws.
    public typealias Failure = Requests.Failure

    let service: RelayService
    let requests: Requests
    let limit: Int
    let order: JobOrder
    let key: (@Sendable (Request<Value, ServerError>) -> String?)?

    /// Begins to read the requests; each iterator reads them anew.
    public func makeAsyncIterator() -> Iterator { Iterator(JobPump(self)) }

    /// Takes the outcomes one by one.
    public final class Iterator: AsyncIteratorProtocol {
        private let pump: JobPump<Requests, Value, ServerError>

        init(_ pump: JobPump<Requests, Value, ServerError>) { self.pump = pump }

        deinit { pump.cancel() }

        /// The next outcome; nil after the last, and when the task is cancelled.
        public func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Requests.Failure) -> JobOutcome<Value, ServerError>? {
            try await next()
        }

        /// The next outcome; nil after the last, and when the task is cancelled.
        public func next() async throws(Requests.Failure) -> JobOutcome<Value, ServerError>? {
            // A caller that drops the iterator leaves the stream, but not while this waits.
            defer { extendLifetime(self) }
            return try await pump.next()
        }
    }
}
