public import RelayBase
import RelayCore
public import RelayJSON

extension HTTPRequest {
    /// A target below the upstream's base: `orders/7?full=1`.
    ///
    /// - Parameters:
    ///   - path: taken as it is, percent-encoded by the caller; a slash at its beginning is dropped and does not lead
    ///     out of the upstream's base, a query in it is kept. An absolute URL is no path: sending it fails with the kind
    ///     `preparation`.
    ///   - query: appended, names and values percent-encoded (RFC 3986 §2.1); a nil value gives a bare name.
    /// - Returns: the target, without a slash at its beginning.
    public static func target(_ path: String, query: Pairs<String?> = [:]) -> String {
        let path = path.hasPrefix("/") ? String(path.dropFirst()) : path
        if query.isEmpty { return path }
        let text = query.map { name, value in
            percentEncoded(name) + (value.map { "=" + percentEncoded($0) } ?? "")
        }.joined(separator: "&")
        guard let mark = path.lastIndex(of: "?") else { return path + "?" + text }
        return path.index(after: mark) == path.endIndex ? path + text : path + "&" + text
    }
}

extension Request {
    /// A request for a value that `decoder` reads from the answer's content.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see ``RequestPath``.
    ///   - query: appended to the path.
    ///   - headers: they come before the content's own media type and win over it. One that no message can carry, a
    ///     line end in it for example, is a failure of the kind `preparation` with nothing sent.
    ///   - content: what is sent.
    ///   - decoder: reads the value. An empty answer is nil where the value is optional; else it is read as no bytes,
    ///     and what cannot be read of them is a failure of the kind `empty_response`.
    ///   - container: where the value stands in the answer, `"/data"` for `{"data": …}`; nil reads all of it. A missing
    ///     one is a failure of the kind `decoding`, as in an answer that is not JSON.
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
    /// An empty answer is no bytes, an empty text, or nil where the value is optional.
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

    init(
        _ method: Method,
        _ path: RequestPath,
        _ query: Pairs<String?>,
        _ headers: Pairs<String>,
        _ content: Content,
        _ decoder: some ContentDecoder,
        _ container: JSONPointer?
    ) where Response: Decodable {
        self.init(method, path, query, headers, content) { success in
            try success.value(Response.self, decoder, at: container)
        }
    }

    /// A request for a value that the service's decoder reads where it has one, and `decoder` where it has none.
    package init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?>,
        headers: Pairs<String>,
        content: Content,
        container: JSONPointer?,
        unlessServiceHas decoder: some ContentDecoder
    ) where Response: Decodable {
        self.init(method, path, query, headers, content) { success in
            if let own = success.decoder,
                container != nil || !(Response.self is any ContentInitializable.Type)
            {
                return try success.value(Response.self, own, at: container)
            }
            return try success.value(Response.self, decoder, at: container)
        }
    }

    init(
        _ method: Method,
        _ path: RequestPath,
        _ query: Pairs<String?>,
        _ headers: Pairs<String>,
        _ content: Content,
        transform: @escaping @Sendable (TransportSuccess) throws -> Response
    ) {
        let target = HTTPRequest.target(path.text, query: query)
        self.init(message: HTTPRequest(method: method, target: target, body: content.body), transform)
        pathFlaw = path.flaw
        encoding = ContentEncoding(content)
        take(headers, content.mediaType)
    }
}

/// The rule for an answer's content where a request wants nothing but its success.
public enum EmptyBodyPolicy: Sendable {
    /// Content is ignored.
    case any
    /// Content is a failure of the kind `invalid_response`.
    case validatedEmpty
    /// The closure decides; what it throws is a failure of the kind `invalid_response`, unless it is a ``Failure``.
    case custom(@Sendable (TransportSuccess) throws -> Void)

    func check(_ success: TransportSuccess) throws {
        switch self {
        case .any: break
        case .validatedEmpty:
            guard success.response.bytes.isEmpty else {
                throw Failure(
                    .invalidResponse,
                    sent: .answered,
                    "the answer has content where none is wanted"
                )
            }
        case .custom(let check):
            do {
                try check(success)
            } catch {
                throw Failure.invalid(error)
            }
        }
    }
}
