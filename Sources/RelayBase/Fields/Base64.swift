/// Base64 with padding (RFC 4648, 4).
package enum Base64 {
    /// Decodes a text.
    ///
    /// - Returns: nil for any byte outside the alphabet, missing padding, or, in the canonical form, bits that belong to
    ///   no byte.
    package static func decode(_ text: String, isCanonical: Bool = true) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        guard digits.count.isMultiple(of: 4) else { return nil }
        var padding = 0
        while padding < 2, digits.last == UInt8(ascii: "=") {
            digits = digits.dropLast()
            padding += 1
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var held: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(digit) else { return nil }
            held = held << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(count)))
            held &= 1 << UInt32(count) - 1
        }
        return held == 0 || !isCanonical ? bytes : nil
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
