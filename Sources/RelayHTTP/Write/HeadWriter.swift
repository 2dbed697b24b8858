package import RelayBase

/// Appends the parts of a message to an output buffer.
///
/// The arguments must come from a parser or a checked constructor (`Method`s are tokens, targets visible
/// ASCII, `HeaderFields` clean); nothing is escaped here.
package enum HeadWriter {
    /// Appends `POST /orders HTTP/1.1` and its line end.
    package static func appendRequestLine(_ method: Method, _ target: String, to output: inout OutputBuffer) {
        output.append(text: method.rawValue)
        output.append(space)
        output.append(text: target)
        output.append(" HTTP/1.1\r\n")
    }

    /// Appends `HTTP/1.1 200 OK` and its line end.
    package static func appendStatusLine(_ status: Status, to output: inout OutputBuffer) {
        output.append("HTTP/1.1 ")
        let code = status.rawValue
        output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: code / 100 % 10))
        output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: code / 10 % 10))
        output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: code % 10))
        output.append(space)
        output.append(status.reasonPhrase)
        appendLineEnd(to: &output)
    }

    /// Appends every field but those whose entry `skips` picks, raw, in order.
    ///
    /// Fields that stand in their storage as a parser found them are copied in runs, separators and all.
    package static func appendFields(
        _ fields: HeaderFields,
        to output: inout OutputBuffer,
        skipping skips: (HeaderFields.Entry) -> Bool = { _ in false }
    ) {
        let bytes = fields.storage.span
        var run = 0..<0
        for entry in fields.entries where !skips(entry) {
            let line = lineRange(entry, bytes)
            if let line, line.lowerBound == run.upperBound {
                run = run.lowerBound..<line.upperBound
                continue
            }
            output.append(bytes.extracting(run))
            run = line ?? 0..<0
            if line == nil { appendParts(entry, bytes, to: &output) }
        }
        output.append(bytes.extracting(run))
    }

    private static func appendParts(
        _ entry: HeaderFields.Entry,
        _ bytes: Span<UInt8>,
        to output: inout OutputBuffer
    ) {
        output.append(bytes.extracting(entry.nameRange))
        output.append(": ")
        output.append(bytes.extracting(entry.valueRange))
        appendLineEnd(to: &output)
    }

    /// Where the whole line of a field stands, if its storage has it as it would be written.
    private static func lineRange(_ entry: HeaderFields.Entry, _ bytes: Span<UInt8>) -> Range<Int>? {
        let name = entry.nameRange
        let value = entry.valueRange
        guard value.lowerBound == name.upperBound + 2, value.upperBound + 2 <= bytes.count,
            bytes[name.upperBound] == colon, bytes[name.upperBound + 1] == space,
            bytes[value.upperBound] == carriageReturn, bytes[value.upperBound + 1] == lineFeed
        else { return nil }
        return name.lowerBound..<value.upperBound + 2
    }

    /// One field; `name` must be a token and `value` free of control bytes.
    package static func appendField(_ name: StaticString, _ value: String, to output: inout OutputBuffer) {
        output.append(name)
        output.append(": ")
        output.append(text: value)
        appendLineEnd(to: &output)
    }

    /// Appends `Content-Length: 5` and its line end.
    package static func appendContentLength(_ length: UInt64, to output: inout OutputBuffer) {
        output.append("Content-Length: ")
        output.append(decimal: length)
        appendLineEnd(to: &output)
    }

    /// The size line before a chunk of `count` bytes, which must not be zero; CRLF follows the data.
    package static func appendChunkHeader(_ count: Int, to output: inout OutputBuffer) {
        precondition(count > 0, "an empty chunk would end the body")
        let digits = (Int.bitWidth - count.leadingZeroBitCount + 3) / 4
        for place in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: count >> (place * 4)) & 0xF
            output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        appendLineEnd(to: &output)
    }

    /// The last chunk, without trailer fields.
    package static func appendLastChunk(to output: inout OutputBuffer) { output.append("0\r\n\r\n") }

    /// CRLF: ends a line, a chunk's data, or the head.
    package static func appendLineEnd(to output: inout OutputBuffer) {
        output.append("\r\n")
    }
}

extension HeaderFields.Entry {
    package var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameCount) }
    package var valueRange: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueCount) }
}
