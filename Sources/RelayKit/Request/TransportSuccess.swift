public import RelayBase

/// An answer that counts as a success, with the request that produced it.
public struct TransportSuccess: Sendable {
    /// The request as it was before any per-attempt preparation.
    public let request: HTTPRequest
    /// The answer, its content in memory.
    public let response: HTTPResponse

    /// Pairs an answer with its request.
    public init(request: HTTPRequest, response: HTTPResponse) {
        self.request = request
        self.response = response
    }
}

/// The description of an attempt that did not succeed; ``Failure/response`` is the answer, where there was one.
public typealias TransportFailure = Failure
