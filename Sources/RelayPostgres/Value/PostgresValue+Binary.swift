// The binary formats of the types: integers in network order; an array says its dimensions, then each element its length.
extension PostgresValue {
    /// Appends the value; false where it is NULL.
    func append(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .null: return false
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int16(let value): bytes.append(integer: value)
        case .int32(let value): bytes.append(integer: value)
        case .int64(let value): bytes.append(integer: value)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytes(let value), .uuid(let value): bytes.append(contentsOf: value)
        case .bools(let values): Self.append(values, .bool, to: &bytes) { $1.append($0 ? 1 : 0) }
        case .int16s(let values): Self.append(values, .int16, to: &bytes) { $1.append(integer: $0) }
        case .int32s(let values): Self.append(values, .int32, to: &bytes) { $1.append(integer: $0) }
        case .int64s(let values): Self.append(values, .int64, to: &bytes) { $1.append(integer: $0) }
        case .optionalInt64s(let values): Self.append(values, .int64, to: &bytes) { $1.append(integer: $0) }
        case .texts(let values): Self.append(values, .text, to: &bytes) { $1.append(contentsOf: $0.utf8) }
        case .optionalTexts(let values):
            Self.append(values, .text, to: &bytes) { $1.append(contentsOf: $0.utf8) }
        case .bytesArray(let values): Self.append(values, .bytes, to: &bytes) { $1.append(contentsOf: $0) }
        case .optionalBytesArray(let values):
            Self.append(values, .bytes, to: &bytes) { $1.append(contentsOf: $0) }
        case .uuids(let values): Self.append(values, .uuid, to: &bytes) { $1.append(contentsOf: $0) }
        }
        return true
    }

    private static func append<Element>(
        _ values: [Element?],
        _ type: PostgresType,
        to bytes: inout [UInt8],
        _ add: (Element, inout [UInt8]) -> Void
    ) {
        let hasNull = values.contains { $0 == nil }
        // An empty array has no dimension.
        bytes.append(integer: Int32(values.isEmpty ? 0 : 1))
        bytes.append(integer: Int32(hasNull ? 1 : 0))
        bytes.append(integer: type.rawValue)
        guard !values.isEmpty else { return }
        bytes.append(integer: Int32(truncatingIfNeeded: values.count))
        // The first index.
        bytes.append(integer: Int32(1))
        for value in values {
            let start = bytes.count
            bytes.append(integer: Int32(-1))
            guard let value else { continue }
            add(value, &bytes)
            let length = UInt32(truncatingIfNeeded: bytes.count - start - 4)
            for index in 0..<4 {
                bytes[start + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index))
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append<Integer: FixedWidthInteger>(integer: Integer) {
        unsafe Swift.withUnsafeBytes(of: integer.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
