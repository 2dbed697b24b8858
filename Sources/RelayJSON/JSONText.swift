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
            if escapedLength(of: text[next]) > 1 {
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
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "b")]
        case 0x09: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
        case 0x0A: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        case 0x0C: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "f")]
        case 0x0D: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
        case ..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes += byte.hexadecimalDigits
        default: bytes.append(byte)
        }
    }

    /// How many bytes `append(escaping:to:)` writes.
    package static func escapedLength(of text: Span<UInt8>) -> Int {
        var (length, next) = (text.count, 0)
        while true {
            next = JSONString.endOfPlainRun(text, from: next)
            guard next < text.count else { return length }
            length += escapedLength(of: text[next]) - 1
            next += 1
        }
    }

    private static func escapedLength(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08...0x0A, 0x0C, 0x0D: 2
        case ..<0x20: 6
        default: 1
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
