/// The one reader of the grammar of RFC 8259: trees, look-ups and mere validation are sinks of it.
///
/// It is stricter than the RFC has to be: names in an object are unique, text is valid UTF-8 without a byte
/// order mark, and escaped surrogates come in pairs. It keeps no stack of calls: depth is a count.
struct JSONScanner {
    private struct Frame {
        var isObject: Bool
        var names: JSONNameSet.Mark
    }

    var offset = 0
    private var frames: [Frame] = []
    private var names = JSONNameSet()
    private let limits: JSONLimits

    init(limits: JSONLimits) { self.limits = limits }

    /// Reads all of `text` as one JSON value.
    static func scan<Sink: JSONSink>(
        _ text: Span<UInt8>,
        limits: JSONLimits,
        into sink: inout Sink
    ) throws(JSONError) {
        var scanner = JSONScanner(limits: limits)
        try scanner.scan(text, into: &sink)
    }

    /// Reads all of another text, in the memory of the last one.
    mutating func scan<Sink: JSONSink>(_ text: Span<UInt8>, into sink: inout Sink) throws(JSONError) {
        offset = 0
        frames.removeAll(keepingCapacity: true)
        names.removeAll()
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF {
            throw JSONError(.byteOrderMark, at: 0, "a byte order mark may not stand before JSON")
        }
        skipSpace(text)
        repeat {
            try scanValue(text, &sink)
        } while try closeContainers(text, &sink)
    }

    /// Reads a scalar, or descends into containers until their first scalar or until an empty one has closed.
    private mutating func scanValue<Sink: JSONSink>(
        _ text: Span<UInt8>,
        _ sink: inout Sink
    ) throws(JSONError) {
        while true {
            let start = offset
            switch byte(text) {
            case UInt8(ascii: "{"):
                sink.beginObject(at: start)
                try push(isObject: true)
                skipSpace(text)
                if byte(text) == UInt8(ascii: "}") { return }
                try scanName(text, &sink)
            case UInt8(ascii: "["):
                sink.beginArray(at: start)
                try push(isObject: false)
                skipSpace(text)
                if byte(text) == UInt8(ascii: "]") { return }
            case UInt8(ascii: "\""):
                let isEscaped = try scanString(text)
                sink.string(start + 1..<offset - 1, isEscaped: isEscaped, in: text)
                return
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try scanNumber(text)
                sink.number(start..<offset, in: text)
                return
            case UInt8(ascii: "t"): return try scanLiteral("true", .true, text, &sink)
            case UInt8(ascii: "f"): return try scanLiteral("false", .false, text, &sink)
            case UInt8(ascii: "n"): return try scanLiteral("null", .null, text, &sink)
            default: throw unexpected(text, expected: "a value")
            }
        }
    }

    /// Reads what follows a value.
    ///
    /// - Returns: whether another value follows, or else the text has ended as it should.
    private mutating func closeContainers<Sink: JSONSink>(
        _ text: Span<UInt8>,
        _ sink: inout Sink
    ) throws(JSONError) -> Bool {
        while let frame = frames.last {
            skipSpace(text)
            let found = byte(text)
            if found == (frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                offset += 1
                frames.removeLast()
                names.removeAll(since: frame.names)
                sink.endContainer(at: offset)
                continue
            }
            guard found == UInt8(ascii: ",") else {
                throw unexpected(text, expected: frame.isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
            }
            let comma = offset
            offset += 1
            skipSpace(text)
            let next = byte(text)
            if next == UInt8(ascii: "}") || next == UInt8(ascii: "]") {
                throw JSONError(.trailingComma, at: comma, "no comma may follow the last entry")
            }
            if frame.isObject { try scanName(text, &sink) }
            return true
        }
        skipSpace(text)
        if offset < text.count {
            throw JSONError(
                .trailingContent,
                at: offset,
                isComment(text) ? Self.comment : "nothing may follow the value"
            )
        }
        return false
    }

    /// Reads a name, its colon, and the space before its value.
    private mutating func scanName<Sink: JSONSink>(
        _ text: Span<UInt8>,
        _ sink: inout Sink
    ) throws(JSONError) {
        let start = offset
        guard byte(text) == UInt8(ascii: "\"") else { throw unexpected(text, expected: "a name in quotes") }
        let isEscaped = try scanString(text)
        let range = start + 1..<offset - 1
        let mark = frames[frames.count - 1].names
        if !names.insert(range, isEscaped: isEscaped, since: mark, in: text), !sink.acceptsDuplicate(range) {
            throw JSONError(.duplicateName, at: start, "the object already has a member of this name")
        }
        sink.name(range, isEscaped: isEscaped, in: text)
        skipSpace(text)
        guard byte(text) == UInt8(ascii: ":") else {
            throw unexpected(text, expected: "\":\" after the name")
        }
        offset += 1
        skipSpace(text)
    }

    private mutating func push(isObject: Bool) throws(JSONError) {
        guard frames.count < limits.maxDepth else {
            throw JSONError(
                .tooDeep,
                at: offset,
                "more than \(limits.maxDepth) arrays and objects in one another"
            )
        }
        offset += 1
        frames.append(Frame(isObject: isObject, names: names.mark))
    }

    private mutating func scanLiteral<Sink: JSONSink>(
        _ word: StaticString,
        _ literal: JSONLiteral,
        _ text: Span<UInt8>,
        _ sink: inout Sink
    ) throws(JSONError) {
        let start = offset
        let matches = word.withUTF8Buffer { word in
            guard text.count - start >= word.count else { return false }
            for index in 0..<word.count where text[start + index] != (unsafe word[index]) { return false }
            return true
        }
        guard matches else {
            throw JSONError(
                .unexpectedByte,
                at: start,
                "expected a value: only true, false and null are bare words"
            )
        }
        offset += word.utf8CodeUnitCount
        sink.literal(literal, start..<offset)
    }
}

extension JSONScanner {
    /// The byte at `offset`; zero at the end, which no rule of the grammar accepts.
    @inline(__always)
    func byte(_ text: Span<UInt8>) -> UInt8 {
        offset < text.count ? text[offset] : 0
    }

    @inline(__always)
    mutating func skipSpace(_ text: Span<UInt8>) {
        var next = offset
        while next < text.count {
            let byte = text[next]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
            next += 1
        }
        offset = next
    }

    /// The error for what stands at `offset`, or for the end of the text.
    func unexpected(_ text: Span<UInt8>, expected: String) -> JSONError {
        guard offset < text.count else {
            return JSONError(.unexpectedEnd, at: offset, "the text ends where \(expected) is expected")
        }
        let found = text[offset]
        if isComment(text) { return JSONError(.unexpectedByte, at: offset, Self.comment) }
        if found == UInt8(ascii: "'") {
            return JSONError(
                .unexpectedByte,
                at: offset,
                "expected \(expected), found \"'\": names and strings stand in double quotes"
            )
        }
        // Letters and digits may belong to a secret; punctuation says enough.
        let isPunctuation =
            found > 0x20 && found < 0x7F && !isAlphanumeric(found) && found != UInt8(ascii: "\"")
        let what = isPunctuation ? ", found \"\(Character(Unicode.Scalar(found)))\"" : ""
        return JSONError(.unexpectedByte, at: offset, "expected \(expected)\(what)")
    }

    private static let comment = "JSON has no comments: remove it"

    /// Whether what stands at `offset` is a comment in languages that have them.
    private func isComment(_ text: Span<UInt8>) -> Bool {
        if text[offset] == UInt8(ascii: "#") { return true }
        guard text[offset] == UInt8(ascii: "/"), offset + 1 < text.count else { return false }
        return text[offset + 1] == UInt8(ascii: "/") || text[offset + 1] == UInt8(ascii: "*")
    }

    private func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
