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
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of trouble.
    public let code: Code
    /// The words that say what failed and where.
    public let message: String
    /// The problem that the relay told of; nil unless it refused.
    public let problem: RelayProblem?

    /// The message.
    public var description: String { message }

    package init(_ code: Code, _ message: String, problem: RelayProblem? = nil) {
        self.code = code
        self.message = message
        self.problem = problem
    }
}
