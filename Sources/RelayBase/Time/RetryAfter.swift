import RelayJSON

/// The wait an upstream asks for (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// No wait is taken for longer: ten years, in seconds.
    static let ceiling: Int64 = 315_360_000

    /// Reads the Retry-After field, as seconds or as a date.
    ///
    /// - Parameters:
    ///   - fields: the response's fields.
    ///   - wallSeconds: seconds since 1970 at the response's arrival.
    /// - Returns: the wait, from zero (a date that is past) to ten years; nil when there is no such field,
    ///   when two of them differ, or when the value is neither form.
    package static func parse(_ fields: HeaderFields, wallSeconds: Int64) -> Duration? {
        var found: Duration?
        for entry in fields.entries where fields.matches(entry, .retryAfter) {
            let start = Int(entry.valueStart)
            let value = fields.storage.span.extracting(start..<start + Int(entry.valueCount))
            guard let wait = parse(value, wallSeconds: wallSeconds), found == nil || found == wait else {
                return nil
            }
            found = wait
        }
        return found
    }

    /// Reads one value.
    package static func parse(_ value: Span<UInt8>, wallSeconds: Int64) -> Duration? {
        var start = 0
        var end = value.count
        while start < end, isBlankByte(value[start]) { start += 1 }
        while end > start, isBlankByte(value[end - 1]) { end -= 1 }
        guard start < end else { return nil }
        let text = value.extracting(start..<end)
        if text[0].isDigit { return seconds(text) }
        guard let date = IMFDate.parse(text, now: wallSeconds) else { return nil }
        let (wait, overflow) = date.subtractingReportingOverflow(wallSeconds)
        guard !overflow else { return wallSeconds < 0 ? .seconds(ceiling) : .zero }
        return .seconds(min(max(wait, 0), ceiling))
    }

    private static func seconds(_ text: Span<UInt8>) -> Duration? {
        var seconds: Int64 = 0
        for index in 0..<text.count {
            guard text[index].isDigit else { return nil }
            // However many digits follow, the wait is as long as any gets.
            seconds = min(seconds * 10 + Int64(text[index] - UInt8(ascii: "0")), ceiling)
        }
        return .seconds(seconds)
    }
}
