/// A parameter of a statement, which is sent in the binary format of its type.
package enum PostgresValue: Sendable, Equatable {
    /// Of the type that the statement gives it.
    case null
    case bool(Bool)
    case int16(Int16)
    case int32(Int32)
    case int64(Int64)
    case text(String)
    case bytes([UInt8])
    /// Sixteen bytes.
    case uuid([UInt8])
    case bools([Bool])
    case int16s([Int16])
    case int32s([Int32])
    case int64s([Int64])
    case optionalInt64s([Int64?])
    case texts([String])
    case optionalTexts([String?])
    case bytesArray([[UInt8]])
    case optionalBytesArray([[UInt8]?])
    case uuids([[UInt8]])
}

/// The number by which the server's catalogue knows a type.
enum PostgresType: UInt32 {
    /// The statement decides.
    case unknown = 0
    case bool = 16
    case bytes = 17
    case int64 = 20
    case int16 = 21
    case int32 = 23
    case text = 25
    case uuid = 2950
    case bools = 1000
    case bytesArray = 1001
    case int16s = 1005
    case int32s = 1007
    case texts = 1009
    case int64s = 1016
    case uuids = 2951
}

extension PostgresValue {
    var type: PostgresType {
        switch self {
        case .null: .unknown
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .text: .text
        case .bytes: .bytes
        case .uuid: .uuid
        case .bools: .bools
        case .int16s: .int16s
        case .int32s: .int32s
        case .int64s, .optionalInt64s: .int64s
        case .texts, .optionalTexts: .texts
        case .bytesArray, .optionalBytesArray: .bytesArray
        case .uuids: .uuids
        }
    }
}
