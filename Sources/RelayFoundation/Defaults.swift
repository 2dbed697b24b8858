import FoundationEssentials
public import RelayCore
public import RelayJSON

extension Request where Response: Decodable {
    /// A request for a value that a `JSONDecoder` with its defaults reads from the answer's content.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: below the upstream's base, percent-encoded by the caller.
    ///   - query: appended to the path, percent-encoded.
    ///   - headers: they come before the content's own media type and win over it.
    ///   - content: what is sent.
    ///   - container: where the value stands in the answer, `"/data"` for `{"data": …}`; nil reads all of it.
    public init(
        _ method: Method,
        _ path: String,
        query: KeyValuePairs<String, String?> = [:],
        headers: KeyValuePairs<String, String> = [:],
        content: Content = .none,
        container: JSONPointer? = nil
    ) {
        self.init(
            method,
            path,
            query: query,
            headers: headers,
            content: content,
            decoder: JSONDecoder(),
            container: container
        )
    }
}

extension Content {
    /// A value as JSON, under `container` where one is named: `{"data": …}` for `"/data"`.
    ///
    /// Members are sorted by name, so that the same value is always the same bytes.
    ///
    /// - Throws: `EncodingError`.
    public static func json(_ value: some Encodable, container: JSONPointer? = nil) throws -> Content {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try json(value, encoder: encoder, container: container)
    }
}

extension ErrorDocument {
    /// Recognises a document by a value that a `JSONDecoder` with its defaults reads at `pointer`.
    ///
    /// - Parameters:
    ///   - type: becomes `Failure.underlying`.
    ///   - pointer: where the document stands, `"/error"` for `{"error": …}`; only what stands there is decoded.
    public init<Document: Decodable & Error>(_ type: Document.Type, at pointer: JSONPointer) {
        self.init(type, at: pointer, decoder: JSONDecoder())
    }
}
