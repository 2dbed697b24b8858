/// Wall time as text: RFC 3339, written in UTC.
package enum UTCTime {
    /// The last of the year 9999, after which years have more than four digits.
    static let lastSecond: Int64 = 253_402_300_799

    /// The text of a moment in seconds since 1970, clamped to the years 1970 to 9999.
    package static func format(seconds: Int64) -> String {
        let date = CivilDate(secondsSince1970: min(max(seconds, 0), lastSecond))
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(date.year)-\(two(date.month))-\(two(date.day))"
            + "T\(two(date.hour)):\(two(date.minute)):\(two(date.second))Z"
    }

    /// The text of a moment in milliseconds since 1970, clamped to the years 1970 to 9999.
    package static func format(milliseconds: Int64) -> String {
        let clamped = min(max(milliseconds, 0), lastSecond * 1_000 + 999)
        let digits = String(clamped % 1_000)
        return format(seconds: clamped / 1_000).dropLast() + "."
            + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }
}
