import RelayBase

/// Puts values one after the other: numbers with seven bits a byte, texts and bytes with their count.
///
/// It is on the way of every job: whether there is room is asked once a value, not once a byte.
struct RecordWriter {
    /// The bytes that are written, and room behind them.
    private var buffer: [UInt8]
    private var count = 0
    private static let longestNumber = 10

    init(capacity: Int = 512) { buffer = [UInt8](repeating: 0, count: capacity) }

    var bytes: [UInt8] { Array(buffer[..<count]) }

    /// Forgets what is written, and keeps its room, unless it is more than most records need.
    mutating func removeAll() {
        count = 0
        if buffer.count > Self.keptCapacity { buffer = [] }
    }

    private static let keptCapacity = 131_072

    /// Lends what is written.
    func withBytes<E: Error>(_ body: (Span<UInt8>) throws(E) -> Void) throws(E) {
        try body(buffer.span.extracting(..<count))
    }

    mutating func add(_ value: UInt64) {
        reserve(Self.longestNumber)
        count += unsafe buffer.withUnsafeMutableBufferPointer { [count] buffer in
            var (rest, index) = (value, count)
            while rest >= 0x80 {
                unsafe buffer[index] = UInt8(truncatingIfNeeded: rest) | 0x80
                rest >>= 7
                index += 1
            }
            unsafe buffer[index] = UInt8(truncatingIfNeeded: rest)
            return index + 1 - count
        }
    }

    /// Small negative numbers are as short as small positive ones.
    mutating func add(_ value: Int64) {
        add(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func add(_ value: Bool) {
        reserve(1)
        buffer[count] = value ? 1 : 0
        count += 1
    }

    mutating func add(_ value: [UInt8]) {
        add(UInt64(value.count))
        unsafe value.withUnsafeBytes { unsafe put($0) }
    }

    /// Bytes whose count stands elsewhere.
    mutating func add(_ part: ArraySlice<UInt8>) {
        unsafe part.withUnsafeBytes { unsafe put($0) }
    }

    mutating func add(_ value: String) {
        var value = value
        value.withUTF8 { text in
            add(UInt64(text.count))
            unsafe put(UnsafeRawBufferPointer(text))
        }
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
        seal(behind: sum)
        buffer.removeLast(buffer.count - count)
        return buffer
    }

    /// Writes the checksum of that and of what is written.
    mutating func seal(behind sum: Checksum) {
        var sum = sum
        unsafe buffer.withUnsafeBytes { unsafe sum.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        reserve(4)
        for shift in [0, 8, 16, 24] as [UInt32] {
            buffer[count] = UInt8(truncatingIfNeeded: sum.value >> shift)
            count += 1
        }
    }

    private mutating func reserve(_ more: Int) {
        guard buffer.count - count < more else { return }
        buffer += repeatElement(0, count: max(buffer.count, more))
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        reserve(bytes.count)
        unsafe buffer.withUnsafeMutableBytes { [count] buffer in
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
        }
        count += bytes.count
    }
}
