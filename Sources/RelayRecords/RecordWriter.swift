import RelayBase

/// Puts values one after the other: numbers with seven bits a byte, texts and bytes with their count.
///
/// It is on the way of every job: whether there is room is asked once a value, and nobody else holds the bytes, as it
/// would be asked of an array.
@safe package struct RecordWriter: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    /// Bytes that are written.
    @usableFromInline var count = 0
    @usableFromInline static let longestNumber = 10

    package init(capacity: Int = 512) {
        self.capacity = max(Self.longestNumber, capacity)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    package var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Forgets what is written, and keeps its room, unless it is more than most records need.
    package mutating func removeAll() {
        count = 0
        if capacity > Self.keptCapacity { self = RecordWriter() }
    }

    private static let keptCapacity = 131_072

    /// Lends what is written.
    package func withBytes<E: Error>(_ body: (Span<UInt8>) throws(E) -> Void) throws(E) {
        try body(unsafe Span(_unsafeStart: start, count: count))
    }

    @inlinable package mutating func add(_ value: UInt64) {
        reserve(Self.longestNumber)
        var rest = value
        while rest >= 0x80 {
            unsafe start[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
            count &+= 1
        }
        unsafe start[count] = UInt8(truncatingIfNeeded: rest)
        count &+= 1
    }

    /// Small negative numbers are as short as small positive ones.
    @inlinable package mutating func add(_ value: Int64) {
        add(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    @inlinable package mutating func add(_ value: Bool) {
        reserve(1)
        unsafe start[count] = value ? 1 : 0
        count &+= 1
    }

    @inlinable package mutating func add(_ value: [UInt8]) {
        add(UInt64(value.count))
        put(value.span)
    }

    @inlinable package mutating func add(_ value: String) {
        let text = value.utf8.span
        add(UInt64(text.count))
        put(text)
    }

    package mutating func add(_ value: String?) {
        add(value != nil)
        if let value { add(value) }
    }

    package mutating func add(_ value: Duration?) {
        add(value != nil)
        if let value { add(value.saturatedNanoseconds) }
    }

    /// Bytes whose count stands elsewhere.
    @inlinable package mutating func put(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return }
            unsafe (start + count).update(from: first, count: bytes.count)
        }
        count &+= bytes.count
    }

    /// The bytes with their checksum behind them.
    package consuming func sealed(at place: Int64) -> [UInt8] {
        sealed(behind: Checksum(of: place))
    }

    /// The same where more than a place goes before the bytes into the sum.
    package consuming func sealed(behind sum: Checksum) -> [UInt8] {
        seal(behind: sum)
        return bytes
    }

    /// Writes the checksum of that and of what is written.
    package mutating func seal(behind sum: Checksum) {
        var sum = sum
        unsafe sum.add(UnsafeRawBufferPointer(start: start, count: count))
        reserve(4)
        for shift in [0, 8, 16, 24] as [UInt32] {
            unsafe start[count] = UInt8(truncatingIfNeeded: sum.value >> shift)
            count &+= 1
        }
    }

    @inlinable
    mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(by: more) }
    }

    @usableFromInline @inline(never)
    mutating func grow(by more: Int) {
        let wanted = capacity + max(capacity, more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
        unsafe larger.update(from: start, count: count)
        unsafe start.deallocate()
        unsafe start = larger
        capacity = wanted
    }
}
