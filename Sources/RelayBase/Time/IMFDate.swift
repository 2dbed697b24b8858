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
        text += days[date.weekday].bytes
        text += [UInt8(ascii: ","), UInt8(ascii: " ")]
        appendPair(date.day, to: &text)
        text.append(UInt8(ascii: " "))
        text += months[date.month - 1].bytes
        text.append(UInt8(ascii: " "))
        appendPair(date.year / 100, to: &text)
        appendPair(date.year % 100, to: &text)
        text.append(UInt8(ascii: " "))
        appendPair(date.hour, to: &text)
        text.append(UInt8(ascii: ":"))
        appendPair(date.minute, to: &text)
        text.append(UInt8(ascii: ":"))
        appendPair(date.second, to: &text)
        text += Array(" GMT".utf8)
        return text
    }

    /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` with its line end, to be kept for a second and appended as it
    /// is.
    package static func fieldLine(_ seconds: Int64) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(37)
        line += Array("Date: ".utf8)
        line += format(seconds)
        line += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return line
    }

    private static func appendPair(_ number: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension StaticString {
    fileprivate var bytes: [UInt8] { withUTF8Buffer { unsafe Array($0) } }
}
