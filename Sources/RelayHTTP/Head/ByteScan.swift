// Looks at eight bytes at a time: field values are most of a head, and this halves the time it takes.

let carriageReturn = UInt8(ascii: "\r")
let lineFeed = UInt8(ascii: "\n")
let horizontalTab = UInt8(ascii: "\t")
let space = UInt8(ascii: " ")
let colon = UInt8(ascii: ":")

private let everyByte: UInt64 = 0x0101_0101_0101_0101
private let topBits: UInt64 = 0x8080_8080_8080_8080

/// Sets the top bit of each byte of `word`, all below 0x80, that is at least `bound`, which is at most 0x80.
@inline(__always)
private func atLeast(_ bound: UInt8, _ word: UInt64) -> UInt64 {
    (word | topBits) &- UInt64(bound) &* everyByte
}

extension Span<UInt8> {
    /// Eight bytes, the first in the lowest bits; bounds are checked.
    @inline(__always)
    func eightBytes(at offset: Int) -> UInt64 {
        // Any bit pattern is a UInt64, so the load is sound.
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The first control byte (below 0x20, or 0x7F) at or after `start`; `count` when there is none.
    @inline(__always)
    func firstControl(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = eightBytes(at: index)
            // A byte's top bit is set where it is below 0x20, or 0x7F; the lowest one set is exact.
            let low = (word &- 0x20 &* everyByte) & ~word
            let flipped = word ^ (0x7F &* everyByte)
            let found = (low | ((flipped &- everyByte) & ~flipped)) & topBits
            if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            if self[index] < 0x20 || self[index] == 0x7F { return index }
            index &+= 1
        }
        return index
    }

    /// The first byte at or after `start` that is not visible ASCII (0x21 to 0x7E); `count` when there is
    /// none.
    @inline(__always)
    func firstNonVisible(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = eightBytes(at: index)
            let low = (word &- 0x21 &* everyByte) & ~word
            let flipped = word ^ (0x7F &* everyByte)
            let found = (low | ((flipped &- everyByte) & ~flipped) | word) & topBits
            if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            if self[index] < 0x21 || self[index] > 0x7E { return index }
            index &+= 1
        }
        return index
    }

    /// The first byte at or after `start` that is not part of a token; `count` when there is none.
    @inline(__always)
    func firstNonToken(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = eightBytes(at: index)
            let seven = word & ~topBits
            let lower = seven | (0x20 &* everyByte)
            let letters = atLeast(UInt8(ascii: "a"), lower) & ~atLeast(UInt8(ascii: "z") + 1, lower)
            let digits = atLeast(UInt8(ascii: "0"), seven) & ~atLeast(UInt8(ascii: "9") + 1, seven)
            let hyphens = ~atLeast(1, seven ^ (0x2D &* everyByte))
            // Letters, digits and hyphens make up most of a name; the other token bytes are looked up.
            let other = ~((letters | digits | hyphens) & ~word) & topBits
            guard other != 0 else {
                index &+= 8
                continue
            }
            index &+= other.trailingZeroBitCount / 8
            guard isToken(self[index]) else { return index }
            index &+= 1
        }
        while index < count, isToken(self[index]) { index &+= 1 }
        return index
    }

    /// Whether there is a line feed at or after `start`.
    func hasLineFeed(from start: Int) -> Bool {
        var index = start
        while index &+ 8 <= count {
            let flipped = eightBytes(at: index) ^ (UInt64(lineFeed) &* everyByte)
            if (flipped &- everyByte) & ~flipped & topBits != 0 { return true }
            index &+= 8
        }
        while index < count {
            if self[index] == lineFeed { return true }
            index &+= 1
        }
        return false
    }

    /// Whether the bytes from `start` on are `text`, which is in lower case, letters compared without case.
    ///
    /// The caller has checked that they are token bytes, for which setting bit 5 maps only letters onto
    /// letters.
    @inline(__always)
    func hasToken(_ text: StaticString, at start: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard length <= count &- start else { return false }
        for index in 0..<length {
            let wanted = unsafe text.utf8Start[index]
            guard self[start &+ index] | 0x20 == wanted else { return false }
        }
        return true
    }

    /// The bytes of `range` as a string; callers give ASCII.
    @inline(__always)
    func text(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// A copy of the bytes of `range`.
    @inline(__always)
    func copy(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe Array($0) }
    }
}

/// Whether `byte` is `tchar` (RFC 9110 §5.6.2), by bit maps of the first 128 characters.
@inline(__always)
func isToken(_ byte: UInt8) -> Bool {
    let map: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
    return byte < 128 && map >> UInt64(byte & 63) & 1 == 1
}

@inline(__always)
func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == horizontalTab }
