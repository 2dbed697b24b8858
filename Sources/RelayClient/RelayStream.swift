/// An answer whose body is read piece by piece, once.
///
/// ```swift
/// let answer = try await relay.stream(route: "files", path: "large.iso")
/// for try await piece in answer { try file.write(piece) }
/// ```
///
/// A loop that ends before the body does hangs up when the answer is let go.
public struct RelayStream: AsyncSequence, Sendable {
    /// Bytes of the body, as they came.
    public typealias Element = [UInt8]
    /// The error that keeps the rest from coming.
    public typealias Failure = RelayClientError

    private let answer: StreamedAnswer
    private let stay: ClientLife.Stay
    private let pool: ExchangePool
    private let timeout: Duration

    init(_ answer: StreamedAnswer, _ stay: ClientLife.Stay, pool: ExchangePool, timeout: Duration) {
        self.answer = answer
        self.stay = stay
        self.pool = pool
        self.timeout = timeout
    }

    /// Status, fields and what the relay says of the request; its body is empty.
    public var head: RelayResponse { RelayResponse(status: answer.status, fields: answer.fields, body: []) }

    /// Begins to read, or goes on.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Takes the pieces one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: RelayStream

        /// The next piece; nil at the end of the body.
        ///
        /// - Throws: `timedOut` when nothing comes within the client's `timeout`, `connectionLost` when the body breaks
        ///   off, `cancelled` when the task is.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(RelayClientError) -> [UInt8]? {
            try await stream.next()
        }

        /// The next piece; nil at the end of the body.
        ///
        /// - Throws: `timedOut` when nothing comes within the client's `timeout`, `connectionLost` when the body breaks
        ///   off, `cancelled` when the task is.
        public mutating func next() async throws(RelayClientError) -> [UInt8]? { try await stream.next() }
    }

    fileprivate func next() async throws(RelayClientError) -> [UInt8]? {
        let (answer, deadline) = (answer, StreamedAnswer.deadline(timeout))
        do throws(RelayClientError) {
            let piece = try await pool.goOn(answer.canceller, by: deadline) { () throws(RelayClientError) in
                try answer.next(by: deadline)
            }
            if piece == nil { stay.end() }
            return piece
        } catch {
            stay.end()
            throw error
        }
    }
}
