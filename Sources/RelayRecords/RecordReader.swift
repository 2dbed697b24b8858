/// Takes values in the order a `RecordWriter` has put them.
package struct RecordReader {
    /// The bytes are not what was written.
    package struct Damage: Error {
        package init() {}
    }

    private let bytes: [UInt8]
    private var index = 0
    private let end: Int

    /// Takes bytes with their checksum behind them.
    package init(sealed bytes: [UInt8], at place: Int64) throws(Damage) {
        try self.init(sealed: bytes, behind: Checksum(of: place))
    }

    /// The same where more than a place goes before the bytes into the sum.
    package init(sealed bytes: [UInt8], behind sum: Checksum) throws(Damage) {
        guard bytes.count >= 4 else { throw Damage() }
        end = bytes.count - 4
        var sum = sum
        unsafe bytes.withUnsafeBytes {
            unsafe sum.add(UnsafeRawBufferPointer(rebasing: $0[..<(bytes.count - 4)]))
        }
        var kept: UInt32 = 0
        for place in (0..<4).reversed() { kept = kept << 8 | UInt32(bytes[end + place]) }
        guard kept == sum.value else { throw Damage() }
        self.bytes = bytes
    }

    /// Whether everything has been taken.
    package var isAtEnd: Bool { index == end }

    package mutating func number() throws(Damage) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard index < end, shift < 64 else { throw Damage() }
            let byte = bytes[index]
            index += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    package mutating func signed() throws(Damage) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func count() throws(Damage) -> Int {
        let value = try number()
        guard value <= UInt64(end - index) else { throw Damage() }
        return Int(value)
    }

    package mutating func flag() throws(Damage) -> Bool {
        guard index < end, bytes[index] <= 1 else { throw Damage() }
        index += 1
        return bytes[index - 1] == 1
    }

    package mutating func data() throws(Damage) -> [UInt8] {
        let count = try count()
        defer { index += count }
        return Array(bytes[index..<index + count])
    }

    package mutating func text() throws(Damage) -> String {
        let count = try count()
        defer { index += count }
        return String(decoding: bytes[index..<index + count], as: UTF8.self)
    }

    package mutating func optionalText() throws(Damage) -> String? {
        try flag() ? try text() : nil
    }

    package mutating func optionalDuration() throws(Damage) -> Duration? {
        try flag() ? .nanoseconds(try signed()) : nil
    }
}
