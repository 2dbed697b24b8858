import FoundationEssentials
public import RelayJSON
public import RelayKit

extension Request where Response: Decodable {
    /// A request for a value that the service's decoder, or else a `JSONDecoder` with its defaults, reads from the answer's content.
    ///
    /// `Data`, `[UInt8]` and `String` are the content itself, unless a container is named.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see `RequestPath`.
    ///   - query: appended to the path, percent-encoded.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    ///   - container: where the value stands in the answer, `"/data"` for `{"data": …}`; nil reads all of it.
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?> = [:],
        headers: Pairs<String> = [:],
        content: Content = .none,
        container: JSONPointer? = nil
    ) {
        self.init(
            method,
            path,
            query: query,
            headers: headers,
            content: content,
            container: container,
            unlessServiceHas: ContentOrJSON(readsContent: container == nil)
        )
    }
}

extension Request where Response: Decodable, ServerError == Failure {
    /// A request for a value that the service's decoder, or else a `JSONDecoder` with its defaults, reads from the answer's content.
    ///
    /// `Data`, `[UInt8]` and `String` are the content itself, unless a container is named.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base; what is put into it is percent-encoded, see `RequestPath`.
    ///   - query: appended to the path, percent-encoded.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    ///   - container: where the value stands in the answer, `"/data"` for `{"data": …}`; nil reads all of it.
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: Pairs<String?> = [:],
        headers: Pairs<String> = [:],
        content: Content = .none,
        container: JSONPointer? = nil
    ) {
        self.init(
            method,
            path,
            query: query,
            headers: headers,
            content: content,
            container: container,
            unlessServiceHas: ContentOrJSON(readsContent: container == nil)
        )
    }
}

/// Takes content as it is where the value is bytes or text, also where only a generic function knows the type.
private struct ContentOrJSON: ContentDecoder {
    let readsContent: Bool

    func decodeContent<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        if readsContent, let plain = type as? any ContentInitializable.Type,
            let value = try plain.init(content: bytes) as? Value
        {
            return value
        }
        return try JSONDecoder().decodeContent(type, from: bytes)
    }
}

extension Content {
    /// A value as JSON, under `container` where one is named: `{"data": …}` for `"/data"`.
    ///
    /// The service's encoder writes it, or else a `JSONEncoder` that sorts members by name, so that the same value is
    /// always the same bytes.
    ///
    /// - Throws: `EncodingError`.
    public static func json(
        _ value: some Encodable & Sendable,
        container: JSONPointer? = nil
    ) throws -> Content {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try json(value, unlessServiceHas: encoder, container: container)
    }
}

extension ErrorDocument {
    /// Recognises a document by a value that the service's decoder, or else a `JSONDecoder` with its defaults, reads at `pointer`.
    ///
    /// - Parameters:
    ///   - type: becomes `Failure.underlying`.
    ///   - pointer: where the document stands, `"/error"` for `{"error": …}`; only what stands there is decoded.
    public init<Document: Decodable & Error>(_ type: Document.Type, at pointer: JSONPointer) {
        self.init(type, at: pointer, unlessServiceHas: JSONDecoder())
    }
}
