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

    /// Appends every field but those whose entry `skips` picks, raw, in order.
    ///
    /// Fields that stand in their storage as a parser found them are copied in runs, separators and all.
    package static func appendFields(
        _ fields: HeaderFields,
        to output: inout [UInt8],
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
            append(bytes, run, to: &output)
            run = line ?? 0..<0
            if line == nil { appendParts(entry, bytes, to: &output) }
        }
        append(bytes, run, to: &output)
    }

    private static func appendParts(
        _ entry: HeaderFields.Entry,
        _ bytes: Span<UInt8>,
        to output: inout [UInt8]
    ) {
        append(bytes, entry.nameRange, to: &output)
        output.append(colon)
        output.append(space)
        append(bytes, entry.valueRange, to: &output)
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

    private static func append(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        guard !range.isEmpty else { return }
        unsafe bytes.extracting(range).withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
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
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, start) = (number, 20)
            repeat {
                start -= 1
                unsafe digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            unsafe output.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start...]))
        }
    }
}

extension HeaderFields.Entry {
    var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameCount) }
    var valueRange: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueCount) }
}
