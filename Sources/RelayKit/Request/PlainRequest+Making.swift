public import RelayBase
public import RelayJSON

// The makers once more for requests whose error nobody names: they say what it is, so that no call has to.
extension Request where ServerError == Failure {
    /// A request whose answers `transform` turns into values.
    ///
    /// - Parameters:
    ///   - http: what is sent.
    ///   - transform: called for each answer that counts as a success; a `Failure` it throws is taken as it is, any
    ///     other error becomes a failure of the kind `decoding`.
    public init(_ http: HTTPRequest, transform: @escaping @Sendable (TransportSuccess) throws -> Response) {
        self.init(message: http, transform)
    }

    /// A request for a value that `decoder` reads from the answer's content.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see ``RequestPath``.
    ///   - query: appended to the path.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    ///   - decoder: reads the value, or the nil of an empty answer where the value is optional.
    ///   - container: where the value stands in the answer, `"/data"` for `{"data": …}`; nil reads all of it.
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?> = [:],
        headers: Pairs<String> = [:],
        content: Content = .none,
        decoder: some ContentDecoder,
        container: JSONPointer? = nil
    ) where Response: Decodable {
        self.init(method, path, query, headers, content, decoder, container)
    }

    /// A request for a value that the answer's content is: bytes or text.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see ``RequestPath``.
    ///   - query: appended to the path.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?> = [:],
        headers: Pairs<String> = [:],
        content: Content = .none
    ) where Response: ContentInitializable {
        self.init(method, path, query, headers, content) { try $0.content(as: Response.self) }
    }

    /// A request for the answer itself.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see ``RequestPath``.
    ///   - query: appended to the path.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?> = [:],
        headers: Pairs<String> = [:],
        content: Content = .none
    ) where Response == HTTPResponse {
        self.init(method, path, query, headers, content) { $0.response }
    }

    /// A request for nothing but its success.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see ``RequestPath``.
    ///   - query: appended to the path.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    ///   - empty: what becomes of an answer that has content all the same; it is ignored unless another is given.
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?> = [:],
        headers: Pairs<String> = [:],
        content: Content = .none,
        empty: EmptyBodyPolicy = .any
    ) where Response == Void {
        self.init(method, path, query, headers, content) { try empty.check($0) }
    }
}
