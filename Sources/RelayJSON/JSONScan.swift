/// Looks at JSON where it lies, without building a tree; every function reads the whole text once and throws
/// unless all of it is valid.
package enum JSONScan {
    package static func validate(_ text: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var sink = ValidatingSink()
        try JSONScanner.scan(text, limits: limits, into: &sink)
    }

    /// Finds the values at `pointers`, in one pass.
    ///
    /// - Returns: for each pointer the range of the value's bytes, or nil when there is none.
    package static func locate(
        _ pointers: [JSONPointer],
        in text: Span<UInt8>,
        limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> [Range<Int>?] {
        var sink = LocatingSink(pointers)
        try JSONScanner.scan(text, limits: limits, into: &sink)
        return sink.found
    }

    /// Whether the value at `range`, found by `locate`, is `null`.
    package static func isNull(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        // No other value begins with this letter.
        range.count == 4 && range.upperBound <= text.count && text[range.lowerBound] == UInt8(ascii: "n")
    }

    /// The value at `range`, found by `locate`.
    package static func value(
        _ range: Range<Int>,
        in text: Span<UInt8>,
        limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: text.extracting(range), limits: limits)
    }
}

extension JSONPointer {
    /// Finds the value this pointer leads to and checks all of `text` on the way.
    ///
    /// - Returns: the range of the value's bytes, or nil when there is none; either way the text is valid JSON.
    package func locate(
        in text: Span<UInt8>,
        limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> Range<Int>? {
        try JSONScan.locate([self], in: text, limits: limits)[0]
    }

    /// Puts a JSON text, which the caller has checked, into objects nested as the tokens say.
    package func wrap(_ json: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count + steps.reduce(0) { $0 + $1.name.count + 5 })
        for token in tokens {
            bytes.append(UInt8(ascii: "{"))
            JSONText.append(string: token, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }
        bytes += json
        for _ in tokens { bytes.append(UInt8(ascii: "}")) }
        return bytes
    }
}
