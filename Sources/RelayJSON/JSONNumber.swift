/// A JSON number, kept as it was written.
public struct JSONNumber: Sendable, Equatable {
    /// The number as it was written.
    public let text: String

    /// `text` must match the number grammar of RFC 8259 §6.
    public init(text: String) { self.text = text }

    /// A whole number.
    public init(_ value: Int) { text = String(value) }

    /// The value when it is written as an integer that 64 bits hold.
    public var int64: Int64? { Int64(text) }

    /// The nearest double; nil beyond its range.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// Whether both have the same value, exactly and however long they are.
    public func isEquivalent(to other: JSONNumber) -> Bool {
        if text == other.text { return true }
        guard let decimal, let otherDecimal = other.decimal else { return false }
        return decimal == otherDecimal
    }
}

extension JSONNumber {
    /// `±0.d₁d₂… × 10^exponent`, where neither the first digit nor the last is zero.
    private struct Decimal: Equatable {
        var isNegative: Bool
        var digits: [UInt8]
        var exponent: Int
    }

    /// Nil for an exponent beyond all reason, which then equals only itself.
    private var decimal: Decimal? {
        var isNegative = false
        var digits: [UInt8] = []
        var pointShift = 0
        var isFraction = false
        var exponent = 0
        var isExponentNegative = false
        var isExponent = false
        // No text is so long that its digits could make up for an exponent of this size.
        let exponentLimit = 1 << 56
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"):
                if isExponent { isExponentNegative = true } else { isNegative = true }
            case UInt8(ascii: "+"): break
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
            default:
                if isExponent {
                    exponent = min(exponent * 10 + Int(byte & 0x0F), exponentLimit)
                } else {
                    if !isFraction { pointShift += 1 }
                    digits.append(byte)
                }
            }
        }
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeFirst(leading)
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        if digits.isEmpty { return Decimal(isNegative: false, digits: [], exponent: 0) }
        guard exponent < exponentLimit else { return nil }
        return Decimal(
            isNegative: isNegative,
            digits: digits,
            exponent: pointShift - leading + (isExponentNegative ? -exponent : exponent)
        )
    }
}
