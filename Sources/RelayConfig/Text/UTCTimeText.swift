import RelayCore

/// A moment as text: RFC 3339, UTC, whole seconds, written in one way only.
package enum UTCTimeText {
    /// Reads `2027-06-01T00:00:00Z`, from 1970 to 9999.
    ///
    /// - Returns: seconds since 1970; nil for any other text, and for a day that is in no calendar.
    package static func parse(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        let number = { (places: Range<Int>) -> Int64 in
            bytes[places].reduce(0) { $0 * 10 + Int64($1 &- UInt8(ascii: "0")) }
        }
        let month = number(5..<7)
        guard (1...12).contains(month) else { return nil }
        let year = number(0..<4)
        let leaps = { (years: Int64) in years / 4 - years / 100 + years / 400 }
        let isLeap = leaps(year) != leaps(year - 1)
        let monthStart = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][Int(month) - 1]
        let days =
            365 * (year - 1970) + leaps(year - 1) - leaps(1969) + Int64(monthStart)
            + (isLeap && month > 2 ? 1 : 0) + number(8..<10) - 1
        let seconds = days * 86_400 + number(11..<13) * 3_600 + number(14..<16) * 60 + number(17..<19)
        // Whatever was no date, or is written in another way, comes out as another text.
        return UTCTime.format(seconds: seconds) == text ? seconds : nil
    }
}
