public import RelayBase

/// Why there is no answer.
public struct RelayClientError: Error, Sendable, CustomStringConvertible {
    /// The kind of trouble.
    public enum Code: Sendable {
        /// Nobody listens at the socket's path.
        case notReachable
        /// The socket's permissions keep the caller out.
        case notAllowed
        /// The time was up.
        case timedOut
        /// The connection ended before the answer did; the request may have been carried out.
        case connectionLost
        /// The request cannot be sent as it is.
        case invalidRequest
        /// The answer is no HTTP.
        case invalidResponse
        /// The answer's body is larger than the client may hold; `RelayClient.stream` has no such bound.
        case responseTooLarge
        /// The relay refused what was asked; `RelayClientError.problem` has its words.
        case refused
        /// As many requests of this client wait for a place as may.
        case tooManyRequests
        /// The client was shut down.
        case shutDown
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of trouble.
    public let code: Code
    /// The words that say what failed and where.
    public let message: String
    /// The problem that the relay told of; nil unless it refused.
    public let problem: RelayProblem?
    /// How far the request got on its way to the relay: one that is `unknown` may have been carried out, and may be
    /// asked again with the idempotency key that it had.
    public let sent: Sent

    /// The message.
    public var description: String { message }

    package init(_ code: Code, _ message: String, sent: Sent? = nil, problem: RelayProblem? = nil) {
        self.code = code
        self.message = message
        self.problem = problem
        self.sent = sent ?? RelayClientError.sent(code)
    }

    /// How far a request got that ended so, where nothing more is known.
    private static func sent(_ code: Code) -> Sent {
        switch code {
        case .notReachable, .notAllowed, .invalidRequest, .tooManyRequests: .neverSent
        case .timedOut, .connectionLost, .shutDown, .cancelled: .unknown
        case .invalidResponse, .responseTooLarge: .answered
        case .refused: .refused
        }
    }
}
