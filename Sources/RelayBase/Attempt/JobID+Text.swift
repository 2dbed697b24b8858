extension JobID {
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the 26 characters of `description`; either case, nothing else.
    package init?(text: String) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        guard text.utf8.count == 26, let first = text.utf8.first, first <= UInt8(ascii: "7") else {
            return nil
        }
        for byte in text.utf8 {
            guard let digit = Self.value(of: byte) else { return nil }
            high = high << 5 | low >> 59
            low = low << 5 | digit
        }
        self.init(high: high, low: low)
    }

    /// Milliseconds since 1970 UTC at which it was made.
    package var milliseconds: Int64 { Int64(high >> 16) }

    private static func value(of byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return value(of: byte - 32)
        case UInt8(ascii: "A")...UInt8(ascii: "H"): return UInt64(byte - UInt8(ascii: "A")) + 10
        case UInt8(ascii: "J"), UInt8(ascii: "K"): return UInt64(byte - UInt8(ascii: "J")) + 18
        case UInt8(ascii: "M"), UInt8(ascii: "N"): return UInt64(byte - UInt8(ascii: "M")) + 20
        case UInt8(ascii: "P")...UInt8(ascii: "T"): return UInt64(byte - UInt8(ascii: "P")) + 22
        case UInt8(ascii: "V")...UInt8(ascii: "Z"): return UInt64(byte - UInt8(ascii: "V")) + 27
        default: return nil
        }
    }
}
