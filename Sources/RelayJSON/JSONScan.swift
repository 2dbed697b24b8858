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

    /// Writes the text as `JSONValue.encoded` writes what it says.
    package static func compact(
        _ text: Span<UInt8>,
        limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> [UInt8] {
        var sink = CompactingSink(capacity: text.count)
        try JSONScanner.scan(text, limits: limits, into: &sink)
        return sink.bytes
    }

    /// The text of a string whose content stands at `range` of a text that was read.
    package static func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) -> [UInt8] {
        JSONString.bytes(range, isEscaped: isEscaped, in: text)
    }
}

extension JSONPointer {
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
