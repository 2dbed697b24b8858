import RelayJSON

/// `application/x-www-form-urlencoded` of one name or value: space becomes `+`, all but `A–Z a–z 0–9 - . _ *` is
/// percent-encoded (WHATWG URL §5.2).
package func formEncoded(_ text: String) -> String {
    let encoded = percentEncoded(text.utf8) { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: " ") }
    return String(encoded.map { $0 == " " ? "+" : $0 })
}

/// Percent-encodes all but the unreserved characters (RFC 3986 §2.3).
package func percentEncoded(_ text: String) -> String {
    percentEncoded(text.utf8)
}

/// Percent-encodes all but the unreserved characters (RFC 3986 §2.3).
package func percentEncoded(_ bytes: some Sequence<UInt8>) -> String {
    percentEncoded(bytes) { $0 == UInt8(ascii: "~") }
}

/// Percent-encodes all but letters, digits, `-`, `.`, `_` and what `keeps` says.
private func percentEncoded(_ bytes: some Sequence<UInt8>, keeps: (UInt8) -> Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            encoded.append(byte)
        case _ where keeps(byte): encoded.append(byte)
        default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

/// Two hexadecimal digits for each byte, small letters.
package func hexadecimal(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap(\.hexadecimalDigits), as: UTF8.self)
}

/// The bytes that hexadecimal digits stand for; nil where not all are digits, or their number is odd.
package func hexadecimalBytes(_ text: some Collection<UInt8>) -> [UInt8]? {
    let values = text.compactMap(\.hexadecimalValue)
    guard values.count == text.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}

/// Base 64 with padding (RFC 4648 §4).
package func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
        let left = min(bytes.count - index, 3)
        let group =
            UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
            | (left > 2 ? UInt32(bytes[index + 2]) : 0)
        for place in 0..<4 {
            encoded.append(
                place <= left ? digits[Int(group >> (18 - 6 * UInt32(place)) & 63)] : UInt8(ascii: "=")
            )
        }
        index += 3
    }
    return String(decoding: encoded, as: UTF8.self)
}

/// Content without the byte order mark that RFC 8259 §8.1 lets a reader ignore.
package func skippingByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
    bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
}
