public import RelayBase
public import RelayJSON

/// The content of a request with its media type.
public struct Content: Sendable {
    /// The bytes, or where they come from.
    public var body: Body
    /// The value of `Content-Type` unless the request has one of its own; nil says nothing.
    public var mediaType: String?
    /// Writes the same value with another encoder; nil where the bytes are the caller's, or the encoder is.
    package var encode: (@Sendable (any ContentEncoder) throws -> [UInt8])?

    /// Bytes as they are.
    public init(_ body: Body, mediaType: String? = nil) {
        self.body = body
        self.mediaType = mediaType
    }

    /// No content.
    public static let none = Content(.empty)

    /// Bytes as they are; `application/octet-stream` unless another type is given.
    public static func raw(
        _ bytes: some Sequence<UInt8>,
        mediaType: String = MediaType.octetStream
    ) -> Content {
        Content(Body(bytes), mediaType: mediaType)
    }

    /// Text in UTF-8, `text/plain; charset=utf-8` unless another type is given.
    public static func text(_ text: String, mediaType: String = MediaType.plainText) -> Content {
        Content(.bytes(Array(text.utf8)), mediaType: mediaType)
    }

    /// A value as JSON, under `container` where one is named: `{"data": …}` for `"/data"`.
    ///
    /// - Throws: what the encoder throws.
    public static func json(
        _ value: some Encodable,
        encoder: some ContentEncoder,
        container: JSONPointer? = nil
    ) throws -> Content {
        let bytes = try encoder.encodeContent(value)
        return Content(.bytes(container.map { $0.wrap(bytes) } ?? bytes), mediaType: MediaType.json)
    }

    /// A value as JSON that the service's encoder writes where it has one, and `encoder` where it has none.
    package static func json(
        _ value: some Encodable & Sendable,
        unlessServiceHas encoder: some ContentEncoder,
        container: JSONPointer?
    ) throws -> Content {
        var content = try json(value, encoder: encoder, container: container)
        content.encode = { encoder in
            let bytes = try encoder.encodeContent(value)
            return container.map { $0.wrap(bytes) } ?? bytes
        }
        return content
    }

    /// `application/x-www-form-urlencoded` (WHATWG URL §5.2): pairs keep their order, a space becomes `+`, line ends
    /// become CRLF (HTML §4.10.21.4), and every byte outside `A–Z a–z 0–9 - . _ *` is percent-encoded as UTF-8.
    public static func form(_ pairs: Pairs<String>) -> Content {
        let text = pairs.map {
            "\(formEncoded($0.key.withNetworkLineEnds))=\(formEncoded($0.value.withNetworkLineEnds))"
        }
        .joined(separator: "&")
        return Content(.bytes(Array(text.utf8)), mediaType: MediaType.form)
    }
}

/// Writes values as bytes; `JSONEncoder` does when RelayFoundation is imported.
public protocol ContentEncoder: Sendable {
    /// The value as the bytes of a message.
    func encodeContent(_ value: some Encodable) throws -> [UInt8]
}

/// Reads values from bytes; `JSONDecoder` does when RelayFoundation is imported.
public protocol ContentDecoder: Sendable {
    /// The value that the bytes of a message stand for.
    func decodeContent<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

extension String {
    /// Every line end as CR LF.
    fileprivate var withNetworkLineEnds: String {
        var bytes: [UInt8] = []
        var isAfterReturn = false
        for byte in utf8 {
            switch byte {
            case 0x0D: bytes += [0x0D, 0x0A]
            case 0x0A: if !isAfterReturn { bytes += [0x0D, 0x0A] }
            default: bytes.append(byte)
            }
            isAfterReturn = byte == 0x0D
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
