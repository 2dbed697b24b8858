public import FoundationEssentials
public import RelayKit

extension JSONDecoder: ContentDecoder {
    /// The value that a JSON text stands for.
    ///
    /// - Throws: `DecodingError`; a text that nests deeper than 512 arrays and objects is malformed.
    public func decodeContent<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decode(type, from: Data(bytes))
    }
}

extension JSONEncoder: ContentEncoder {
    /// The value as a JSON text.
    ///
    /// - Throws: `EncodingError`, for numbers that are infinite or none at all among others.
    public func encodeContent(_ value: some Encodable) throws -> [UInt8] { [UInt8](try encode(value)) }
}
