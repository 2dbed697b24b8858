import RelayBase

/// A value that is an answer's content itself: bytes or text.
///
/// A request for one reads no JSON, unless it names a container or a decoder: then the value stands in JSON.
public protocol ContentInitializable: Sendable {
    /// Takes an answer's content; nothing but its success says that there is any.
    ///
    /// - Throws: why the content cannot be it; the attempt then fails with the kind `decoding`.
    init(content: [UInt8]) throws
}

extension Array: ContentInitializable where Element == UInt8 {
    /// The content.
    public init(content: [UInt8]) { self = content }
}

extension ArraySlice: ContentInitializable where Element == UInt8 {
    /// The content.
    public init(content: [UInt8]) { self = content[...] }
}

extension ContiguousArray: ContentInitializable where Element == UInt8 {
    /// The content.
    public init(content: [UInt8]) { self.init(content) }
}

extension String: ContentInitializable {
    /// The content as text, without a byte order mark at its beginning.
    ///
    /// - Throws: when it is not UTF-8.
    public init(content: [UInt8]) throws {
        guard let text = String(validating: skippingByteOrderMark(content), as: UTF8.self) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "the text is not UTF-8")
            )
        }
        self = text
    }
}

extension Optional: ContentInitializable where Wrapped: ContentInitializable {
    /// The content; nil where it is empty.
    public init(content: [UInt8]) throws {
        self = content.isEmpty ? nil : .some(try Wrapped(content: content))
    }
}

extension TransportSuccess {
    /// The content as bytes or text.
    func content<Value: ContentInitializable>(as type: Value.Type) throws(Failure) -> Value {
        do {
            return try Value(content: response.bytes)
        } catch {
            throw Failure.undecodable(as: type, error)
        }
    }
}
