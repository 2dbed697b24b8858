/// The trace of a caller (W3C Trace Context, `trace-id`).
package struct TraceID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// Reads a `traceparent`; nil where it is none, or one of a trace that its caller does not record.
    package init?(parent: String) {
        let text = Array(parent.utf8)
        guard text.count >= 55, text[2] == UInt8(ascii: "-"), text[35] == UInt8(ascii: "-"),
            !text[0..<2].elementsEqual("ff".utf8), text.count == 55 || !text[0..<2].elementsEqual("00".utf8),
            let high = TraceID.number(text[3..<19]), let low = TraceID.number(text[19..<35]),
            high != 0 || low != 0, TraceID.number(text[36..<52]) != nil, text[52] == UInt8(ascii: "-"),
            let flags = TraceID.number(text[53..<55]), flags & 1 != 0
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Lower-case hexadecimal digits alone.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    /// 32 lower-case hexadecimal digits.
    package var text: String { TraceID.digits(high) + TraceID.digits(low) }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
