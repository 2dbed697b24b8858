extension UInt8 {
    /// Whether it is a decimal digit.
    @inlinable
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Its value as a hexadecimal digit of either case; nil when it is no such digit.
    @inlinable
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }

    /// Its two hexadecimal digits, small letters.
    package var hexadecimalDigits: [UInt8] { [self >> 4, self & 15].map { $0 < 10 ? $0 + 0x30 : $0 + 0x57 } }
}
