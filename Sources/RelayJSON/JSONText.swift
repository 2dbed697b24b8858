/// Writes JSON as bytes: controls, quotes and backslashes in strings are escaped, all else stands as it is.
package enum JSONText {
    package static func append(string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        append(escaping: string.utf8.span, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a part of a string, in UTF-8; what needs no escape is copied in runs.
    package static func append(escaping text: Span<UInt8>, to bytes: inout [UInt8]) {
        var (start, next) = (0, 0)
        while next < text.count {
            next = JSONString.endOfPlainRun(text, from: next)
            guard next < text.count else { break }
            if escape(text[next]).count > 1 {
                append(text.extracting(start..<next), to: &bytes)
                append(escaped: text[next], to: &bytes)
                start = next + 1
            }
            next += 1
        }
        append(text.extracting(start...), to: &bytes)
    }

    private static func append(_ run: Span<UInt8>, to bytes: inout [UInt8]) {
        unsafe run.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
        var (text, count) = escape(byte)
        while count > 0 {
            bytes.append(UInt8(truncatingIfNeeded: text))
            text >>= 8
            count -= 1
        }
    }

    /// The bytes that stand for a byte in a string, the first in the lowest place, and their number.
    private static func escape(_ byte: UInt8) -> (text: UInt64, count: Int) {
        func short(_ letter: Unicode.Scalar) -> (UInt64, Int) { (0x5C | UInt64(letter.value) << 8, 2) }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return short(Unicode.Scalar(byte))
        case 0x08: return short("b")
        case 0x09: return short("t")
        case 0x0A: return short("n")
        case 0x0C: return short("f")
        case 0x0D: return short("r")
        case ..<0x20:
            let digits = byte.hexadecimalDigits
            // `\u00`
            return (0x3030_755C | UInt64(digits[0]) << 32 | UInt64(digits[1]) << 40, 6)
        default: return (UInt64(byte), 1)
        }
    }

    /// Most bytes that one becomes in a string.
    package static let longestEscape = 6

    /// Writes a part of a string, in UTF-8, to where there is room for it: `longestEscape` for each byte, and two more.
    ///
    /// - Returns: how many bytes were written.
    package static func write(
        escaping text: Span<UInt8>,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var (start, next, written) = (0, 0, 0)
        func copy(_ end: Int) {
            guard end > start else { return }
            unsafe text.extracting(start..<end).withUnsafeBufferPointer { run in
                guard let first = run.baseAddress else { return }
                unsafe (target + written).update(from: first, count: run.count)
            }
            written += end - start
        }
        while next < text.count {
            next = JSONString.endOfPlainRun(text, from: next)
            guard next < text.count else { break }
            let (bytes, count) = escape(text[next])
            if count > 1 {
                copy(next)
                unsafe UnsafeMutableRawPointer(target + written)
                    .storeBytes(of: bytes.littleEndian, as: UInt64.self)
                written += count
                start = next + 1
            }
            next += 1
        }
        copy(text.count)
        return written
    }

    /// How many bytes `append(escaping:to:)` writes.
    package static func escapedLength(of text: Span<UInt8>) -> Int {
        var (length, next) = (text.count, 0)
        while true {
            next = JSONString.endOfPlainRun(text, from: next)
            guard next < text.count else { return length }
            length += escape(text[next]).count - 1
            next += 1
        }
    }

    /// Writes a value without spaces.
    package static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
        append(value, indent: nil, to: &bytes)
    }

    // `indent` counts steps of two spaces before the closing bracket; nil writes one line.
    fileprivate static func append(_ value: JSONValue, indent: Int?, to bytes: inout [UInt8]) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .string(let string): append(string: string, to: &bytes)
        case .array(let elements):
            appendList(elements, "[", "]", indent, to: &bytes) { element, indent, bytes in
                append(element, indent: indent, to: &bytes)
            }
        case .object(let members):
            appendList(members, "{", "}", indent, to: &bytes) { member, indent, bytes in
                append(string: member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                if indent != nil { bytes.append(UInt8(ascii: " ")) }
                append(member.value, indent: indent, to: &bytes)
            }
        }
    }

    private static func appendList<Element>(
        _ list: [Element],
        _ opening: Unicode.Scalar,
        _ closing: Unicode.Scalar,
        _ indent: Int?,
        to bytes: inout [UInt8],
        _ appendElement: (Element, Int?, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: opening))
        for (index, element) in list.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            appendLineBreak(indent.map { $0 + 1 }, to: &bytes)
            appendElement(element, indent.map { $0 + 1 }, &bytes)
        }
        if !list.isEmpty { appendLineBreak(indent, to: &bytes) }
        bytes.append(UInt8(ascii: closing))
    }

    private static func appendLineBreak(_ indent: Int?, to bytes: inout [UInt8]) {
        guard let indent else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += Array(repeating: UInt8(ascii: " "), count: indent * 2)
    }
}

extension JSONValue {
    /// The value as JSON without spaces.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        JSONText.append(self, indent: nil, to: &bytes)
        return bytes
    }

    /// The value as JSON with a line for every member and element, indented by two spaces.
    package func encodedPretty() -> [UInt8] {
        var bytes: [UInt8] = []
        JSONText.append(self, indent: 0, to: &bytes)
        return bytes
    }
}
