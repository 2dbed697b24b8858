extension JSONScanner {
    /// Reads a number (RFC 8259 §6): no plus sign, no leading zero, digits on both sides of the point.
    mutating func scanNumber(_ text: Span<UInt8>) throws(JSONError) {
        let start = offset
        if byte(text) == UInt8(ascii: "-") { offset += 1 }
        if byte(text) == UInt8(ascii: "0") {
            offset += 1
            if byte(text).isDigit {
                throw JSONError(.invalidNumber, at: start, "a number may not begin with a zero")
            }
        } else {
            try scanDigits(text, "a number needs a digit here")
        }
        if byte(text) == UInt8(ascii: ".") {
            offset += 1
            try scanDigits(text, "a number needs a digit after its point")
        }
        if byte(text) | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if byte(text) == UInt8(ascii: "+") || byte(text) == UInt8(ascii: "-") { offset += 1 }
            try scanDigits(text, "a number needs a digit in its exponent")
        }
    }

    private mutating func scanDigits(_ text: Span<UInt8>, _ message: String) throws(JSONError) {
        guard byte(text).isDigit else { throw JSONError(.invalidNumber, at: offset, message) }
        repeat { offset += 1 } while byte(text).isDigit
    }

    /// Reads a string from its opening quote to after its closing one.
    ///
    /// - Returns: whether it has escapes, so that its text differs from its bytes.
    mutating func scanString(_ text: Span<UInt8>) throws(JSONError) -> Bool {
        let start = offset
        var isEscaped = false
        var next = start + 1
        while true {
            next = JSONString.endOfPlainRun(text, from: next)
            guard next < text.count else { break }
            let found = text[next]
            offset = next
            if found == UInt8(ascii: "\"") {
                offset += 1
                return isEscaped
            } else if found == UInt8(ascii: "\\") {
                isEscaped = true
                try scanEscape(text)
            } else if found >= 0x80 {
                try scanMultibyte(text)
            } else {
                throw JSONError(
                    .controlCharacter,
                    at: offset,
                    "a control character in a string must be escaped, or the closing quote is missing"
                )
            }
            next = offset
        }
        throw JSONError(.unexpectedEnd, at: start, "the string that begins here is not closed")
    }

    private mutating func scanEscape(_ text: Span<UInt8>) throws(JSONError) {
        let start = offset
        offset += 1
        switch byte(text) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 1
        case UInt8(ascii: "u"):
            offset += 1
            let unit = try scanHexUnit(text, start)
            if unit & 0xFC00 == 0xDC00 { throw loneSurrogate(start) }
            guard unit & 0xFC00 == 0xD800 else { return }
            let second = offset
            guard byte(text) == UInt8(ascii: "\\") else { throw loneSurrogate(start) }
            offset += 1
            guard byte(text) == UInt8(ascii: "u") else { throw loneSurrogate(start) }
            offset += 1
            guard try scanHexUnit(text, second) & 0xFC00 == 0xDC00 else { throw loneSurrogate(start) }
        default:
            throw JSONError(
                .invalidEscape,
                at: start,
                "no such escape: only \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX exist"
            )
        }
    }

    private mutating func scanHexUnit(_ text: Span<UInt8>, _ start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = byte(text).hexadecimalValue else {
                throw JSONError(.invalidEscape, at: start, "\\u needs four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    private func loneSurrogate(_ offset: Int) -> JSONError {
        JSONError(.loneSurrogate, at: offset, "half of a surrogate pair is no character")
    }

    /// Reads one character beyond ASCII (Unicode 16, table 3-7): no overlong forms, surrogates or values past
    /// U+10FFFF.
    private mutating func scanMultibyte(_ text: Span<UInt8>) throws(JSONError) {
        let start = offset
        let lead = text[start]
        let count: Int
        var low: UInt8 = 0x80
        var high: UInt8 = 0xBF
        switch lead {
        case 0xC2...0xDF: count = 2
        case 0xE0...0xEF:
            count = 3
            if lead == 0xE0 { low = 0xA0 }
            if lead == 0xED { high = 0x9F }
        case 0xF0...0xF4:
            count = 4
            if lead == 0xF0 { low = 0x90 }
            if lead == 0xF4 { high = 0x8F }
        default: throw JSONError(.invalidUTF8, at: start, "not valid UTF-8")
        }
        guard text.count - start >= count, text[start + 1] >= low, text[start + 1] <= high else {
            throw JSONError(.invalidUTF8, at: start, "not valid UTF-8")
        }
        for index in 2..<max(count, 2) where text[start + index] & 0xC0 != 0x80 {
            throw JSONError(.invalidUTF8, at: start, "not valid UTF-8")
        }
        offset = start + count
    }
}
