package import RelayCore

/// Appends the parts of a message to an output buffer, as bytes.
///
/// What is given must come from a parser or a checked constructor (`Method`s are tokens, targets visible
/// ASCII, `HeaderFields` clean); nothing is escaped here.
package enum HeadWriter {
    /// Appends `POST /orders HTTP/1.1` and its line end.
    package static func appendRequestLine(_ method: Method, _ target: String, to output: inout [UInt8]) {
        output.append(contentsOf: method.rawValue.utf8)
        output.append(space)
        output.append(contentsOf: target.utf8)
        append(" HTTP/1.1\r\n", to: &output)
    }

    /// Appends `HTTP/1.1 200 OK` and its line end.
    package static func appendStatusLine(_ status: Status, to output: inout [UInt8]) {
        append("HTTP/1.1 ", to: &output)
        let code = status.rawValue
        output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: code / 100 % 10))
        output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: code / 10 % 10))
        output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: code % 10))
        output.append(space)
        append(status.reasonPhrase, to: &output)
        appendLineEnd(to: &output)
    }

    /// Every field but those whose entry `skips` picks, raw, in order.
    @inlinable
    package static func appendFields(
        _ fields: HeaderFields,
        to output: inout [UInt8],
        skipping skips: (HeaderFields.Entry) -> Bool = { _ in false }
    ) {
        for entry in fields.entries where !skips(entry) { appendEntry(entry, of: fields, to: &output) }
    }

    @usableFromInline
    package static func appendEntry(
        _ entry: HeaderFields.Entry,
        of fields: HeaderFields,
        to output: inout [UInt8]
    ) {
        let name = Int(entry.nameStart)
        let value = Int(entry.valueStart)
        output.append(contentsOf: fields.storage[name..<name + Int(entry.nameCount)])
        output.append(colon)
        output.append(space)
        output.append(contentsOf: fields.storage[value..<value + Int(entry.valueCount)])
        appendLineEnd(to: &output)
    }

    /// One field; `name` must be a token and `value` free of control bytes.
    package static func appendField(_ name: StaticString, _ value: String, to output: inout [UInt8]) {
        append(name, to: &output)
        append(": ", to: &output)
        output.append(contentsOf: value.utf8)
        appendLineEnd(to: &output)
    }

    /// Appends `Content-Length: 5` and its line end.
    package static func appendContentLength(_ length: UInt64, to output: inout [UInt8]) {
        append("Content-Length: ", to: &output)
        appendDecimal(length, to: &output)
        appendLineEnd(to: &output)
    }

    /// The size line before a chunk of `count` bytes, which must not be zero; CRLF follows the data.
    package static func appendChunkHeader(_ count: Int, to output: inout [UInt8]) {
        precondition(count > 0, "an empty chunk would end the body")
        let digits = (Int.bitWidth - count.leadingZeroBitCount + 3) / 4
        for place in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: count >> (place * 4)) & 0xF
            output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        appendLineEnd(to: &output)
    }

    /// The last chunk, without trailer fields.
    package static func appendLastChunk(to output: inout [UInt8]) { append("0\r\n\r\n", to: &output) }

    /// CRLF: ends a line, a chunk's data, or the head.
    package static func appendLineEnd(to output: inout [UInt8]) {
        output.append(carriageReturn)
        output.append(lineFeed)
    }

    /// Constant bytes, such as a whole field line.
    package static func append(_ text: StaticString, to output: inout [UInt8]) {
        text.withUTF8Buffer { unsafe output.append(contentsOf: $0) }
    }

    package static func appendDecimal(_ number: UInt64, to output: inout [UInt8]) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
