/// The text of strings a scan has found and checked.
enum JSONString {
    /// The UTF-8 bytes of a string whose content stands at `range`, escapes resolved.
    static func bytes(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) -> [UInt8] {
        guard isEscaped else { return rawBytes(range, in: text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let byte = text[offset]
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                offset += 1
                continue
            }
            let kind = text[offset + 1]
            offset += 2
            switch kind {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = unit(at: offset, in: text)
                offset += 4
                if scalar & 0xFC00 == 0xD800 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 | (unit(at: offset + 2, in: text) & 0x3FF)
                    offset += 6
                }
                append(scalar, to: &bytes)
            default: bytes.append(kind)
            }
        }
        return bytes
    }

    /// The string whose content stands at `range`.
    static func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) -> String {
        if isEscaped { return String(decoding: bytes(range, isEscaped: true, in: text), as: UTF8.self) }
        return unsafe text.extracting(range).withUnsafeBufferPointer { buffer in
            unsafe String(decoding: buffer, as: UTF8.self)
        }
    }

    /// The bytes of the text at `range`, as they stand there.
    static func rawBytes(_ range: Range<Int>, in text: Span<UInt8>) -> [UInt8] {
        unsafe text.extracting(range).withUnsafeBufferPointer { buffer in unsafe Array(buffer) }
    }

    /// Eight bytes from `offset` on, the first in the lowest place; there must be so many.
    @inline(__always)
    static func eightBytes(at offset: Int, in text: Span<UInt8>) -> UInt64 {
        precondition(offset >= 0 && text.count - offset >= 8)
        return UInt64(
            littleEndian: unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        )
    }

    private static func unit(at offset: Int, in text: Span<UInt8>) -> UInt32 {
        var unit: UInt32 = 0
        for index in 0..<4 { unit = unit << 4 | UInt32(text[offset + index].hexadecimalValue ?? 0) }
        return unit
    }

    private static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        let tail = { (shift: UInt32) in UInt8(truncatingIfNeeded: 0x80 | scalar >> shift & 0x3F) }
        switch scalar {
        case ..<0x80: bytes.append(UInt8(truncatingIfNeeded: scalar))
        case ..<0x800: bytes += [UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6), tail(0)]
        case ..<0x10000: bytes += [UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12), tail(6), tail(0)]
        default: bytes += [UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18), tail(12), tail(6), tail(0)]
        }
    }
}

// Runs that stand for themselves.
extension JSONString {
    /// The offset of the first byte that is a quote, a backslash, a control or not ASCII; the end if there is none.
    static func endOfPlainRun(_ text: Span<UInt8>, from start: Int) -> Int {
        precondition(start >= 0)
        var next = start
        // Eight bytes at once (Warren, "Hacker's Delight", 6-1): the lowest mark set is exact.
        let last = text.count &- 8
        let bytes = unsafe text.bytes
        while next <= last {
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: next, as: UInt64.self)
            let marks = specialBytes(word.littleEndian)
            if marks != 0 { return next &+ marks.trailingZeroBitCount / 8 }
            next &+= 8
        }
        while next < text.count {
            let byte = text[next]
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                break
            }
            next += 1
        }
        return next
    }

    @inline(__always)
    private static func specialBytes(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        // Bytes from 0x80 on are marked for themselves, so that no sum has to be cleared of them.
        return ((quotes &- ones) | (backslashes &- ones) | (word &- ones &* 0x20) | word) & highs
    }
}
