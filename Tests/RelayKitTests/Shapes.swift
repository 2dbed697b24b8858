import RelayJSON
import RelayKit

/// A type that can be read from JSON without Codable's machinery: enough of a decoder for tests.
protocol Shape: Decodable, Sendable {
    init(shape: JSONValue) throws
}

/// The JSON was not of the wanted shape.
struct Misshapen: Error {
    let wanted: String
}

extension Shape {
    init(from decoder: any Decoder) throws { throw Misshapen(wanted: "a ShapeDecoder") }
}

extension String: Shape {
    init(shape: JSONValue) throws {
        guard case .string(let text) = shape else { throw Misshapen(wanted: "string") }
        self = text
    }
}

extension Array: Shape where Element: Shape {
    init(shape: JSONValue) throws {
        guard case .array(let elements) = shape else { throw Misshapen(wanted: "array") }
        self = try elements.map { try Element(shape: $0) }
    }
}

/// A document of an upstream.
struct Book: Shape, Encodable, Equatable {
    var title: String

    init(title: String) { self.title = title }

    init(shape: JSONValue) throws {
        guard case .object = shape else { throw Misshapen(wanted: "object") }
        title = try String(shape: shape["title"] ?? .null)
    }

    var shape: JSONValue { .object([.init("title", .string(title))]) }
}

/// An upstream's description of what went wrong; without a title it is none.
struct APIProblem: Shape, Error, Equatable {
    let code: String
    let title: String

    init(shape: JSONValue) throws {
        code = try String(shape: shape["code"] ?? .null)
        title = try String(shape: shape["title"] ?? .null)
    }
}

/// The same, where a code alone will do; also the error that a program makes itself.
struct Problem: Shape, Error, Equatable {
    let code: String

    init(code: String) { self.code = code }

    init(shape: JSONValue) throws { code = try String(shape: shape["code"] ?? .null) }
}

/// Reads and writes shapes.
struct ShapeCoder: ContentDecoder, ContentEncoder {
    func decodeContent<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        guard let shape = type as? any Shape.Type,
            let value = try shape.init(shape: JSONValue(parsing: bytes)) as? Value
        else { throw Misshapen(wanted: "a shape") }
        return value
    }

    func encodeContent(_ value: some Encodable) throws -> [UInt8] {
        switch value {
        case let book as Book: return book.shape.encoded()
        case let books as [Book]: return JSONValue.array(books.map(\.shape)).encoded()
        default: throw Misshapen(wanted: "a book")
        }
    }
}

extension Body {
    /// The bytes in memory as text.
    var text: String? {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
}
