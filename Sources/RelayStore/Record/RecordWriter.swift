import RelayCore

/// Puts values one after the other: numbers with seven bits a byte, texts and bytes with their count.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    mutating func add(_ value: UInt64) {
        if value < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value))
            return
        }
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Small negative numbers are as short as small positive ones.
    mutating func add(_ value: Int64) {
        add(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func add(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func add(_ value: [UInt8]) {
        add(UInt64(value.count))
        bytes += value
    }

    /// Bytes whose count stands elsewhere.
    mutating func add(_ part: ArraySlice<UInt8>) { bytes += part }

    mutating func add(_ value: String) {
        add(UInt64(value.utf8.count))
        bytes += value.utf8
    }

    mutating func add(_ value: String?) {
        add(value != nil)
        if let value { add(value) }
    }

    mutating func add(_ value: Duration?) {
        add(value != nil)
        if let value { add(value.saturatedNanoseconds) }
    }

    /// The bytes with their checksum behind them.
    consuming func sealed(at place: Int64) -> [UInt8] {
        sealed(behind: Checksum(of: place))
    }

    /// The same where more than a place goes before the bytes into the sum.
    consuming func sealed(behind sum: Checksum) -> [UInt8] {
        var sum = sum
        sum.add(bytes)
        for shift in [0, 8, 16, 24] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: sum.value >> shift))
        }
        return bytes
    }
}
