/// The dates of HTTP (RFC 9110 §5.6.7), in seconds since 1970-01-01 00:00:00 UTC.
package enum IMFDate {
    /// The last second of the year 9999.
    static let latest: Int64 = 253_402_300_799
    /// The first second of the year 1.
    static let earliest: Int64 = -62_135_596_800

    static let days: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longDays: [StaticString] = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The preferred form, always 29 bytes: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Seconds outside the years 1 to 9999 are clamped.
    package static func format(_ seconds: Int64) -> [UInt8] {
        let clamped = min(max(seconds, earliest), latest)
        let date = CivilDate(secondsSince1970: clamped)
        var text: [UInt8] = []
        text.reserveCapacity(29)
        HeadWriter.append(days[date.weekday], to: &text)
        HeadWriter.append(", ", to: &text)
        appendPair(date.day, to: &text)
        text.append(space)
        HeadWriter.append(months[date.month - 1], to: &text)
        text.append(space)
        appendPair(date.year / 100, to: &text)
        appendPair(date.year % 100, to: &text)
        text.append(space)
        appendPair(date.hour, to: &text)
        text.append(colon)
        appendPair(date.minute, to: &text)
        text.append(colon)
        appendPair(date.second, to: &text)
        HeadWriter.append(" GMT", to: &text)
        return text
    }

    /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` with its line end, to be kept for a second and appended as it
    /// is.
    package static func fieldLine(_ seconds: Int64) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(37)
        HeadWriter.append("Date: ", to: &line)
        line += format(seconds)
        HeadWriter.appendLineEnd(to: &line)
        return line
    }

    private static func appendPair(_ number: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}
