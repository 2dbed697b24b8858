import RelayBase

/// Where the heads and answers of a loop are composed: room for whatever its buffer holds, and the relay's own fields.
@safe struct PassThroughOutput: ~Copyable {
    /// The bytes that a configuration adds to a message at most.
    static let own = 12_288
    /// The bytes that one read takes at most, and what is added to them.
    static let capacity = 131_072 + own + 4_096

    let base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    init() { unsafe base = .allocate(capacity: Self.capacity) }

    deinit { unsafe base.deallocate() }

    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: count) }
    /// Where the next byte goes.
    var end: UnsafeMutablePointer<UInt8> { unsafe base + count }

    @inline(__always)
    mutating func clear() { count = 0 }

    /// Bytes were written at `end`.
    @inline(__always)
    mutating func advance(_ written: Int) { count &+= written }

    @inline(__always)
    mutating func put(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            if let first = bytes.baseAddress { unsafe end.update(from: first, count: bytes.count) }
        }
        count &+= bytes.count
    }

    mutating func put(text: String) {
        var text = text
        text.withUTF8 { bytes in
            if let first = bytes.baseAddress { unsafe end.update(from: first, count: bytes.count) }
            count &+= bytes.count
        }
    }

    @inline(__always)
    mutating func put(_ text: StaticString) {
        unsafe end.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count &+= text.utf8CodeUnitCount
    }

    @inline(__always)
    mutating func put(_ source: UnsafePointer<UInt8>, _ range: Range<Int>) {
        unsafe end.update(from: source + range.lowerBound, count: range.count)
        count &+= range.count
    }

    /// A number that is not negative.
    @inline(__always)
    mutating func put(decimal number: Int) {
        var rest = number
        var places = 1
        var bound = 10
        while rest >= bound {
            bound &*= 10
            places &+= 1
        }
        count &+= places
        var index = count
        repeat {
            index &-= 1
            let tenth = rest / 10
            unsafe base[index] = UInt8(truncatingIfNeeded: rest &- tenth &* 10) &+ 0x30
            rest = tenth
        } while rest > 0
    }

    /// A number that is above zero, as the size of a chunk.
    mutating func put(hexadecimal number: Int) {
        var shift = (Int.bitWidth - 1 - number.leadingZeroBitCount) / 4 * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: number >> shift) & 15
            unsafe base[count] = digit < 10 ? 0x30 + digit : 0x57 + digit
            count += 1
            shift -= 4
        }
    }

    /// Milliseconds with three places behind the point.
    @inline(__always)
    mutating func put(milliseconds microseconds: Int) {
        let whole = microseconds / 1_000
        put(decimal: whole)
        put(".")
        let rest = microseconds &- whole &* 1_000
        unsafe base[count] = UInt8(truncatingIfNeeded: rest / 100) &+ 0x30
        unsafe base[count &+ 1] = UInt8(truncatingIfNeeded: rest / 10 % 10) &+ 0x30
        unsafe base[count &+ 2] = UInt8(truncatingIfNeeded: rest % 10) &+ 0x30
        count &+= 3
    }

    @inline(__always)
    mutating func put(_ id: JobID) {
        unsafe id.write(to: end)
        count &+= 26
    }
}
