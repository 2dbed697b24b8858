/// Wall time as text: RFC 3339, UTC, whole seconds.
package enum UTCTime {
    /// - Parameter seconds: since 1970; clamped to the years 1970…9999.
    package static func format(seconds: Int64) -> String {
        let seconds = min(max(seconds, 0), 253_402_300_799)
        let (year, month, day) = civil(days: seconds / 86_400)
        let rest = seconds % 86_400
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(year)-\(two(month))-\(two(day))T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
    }

    /// Days since 1970 to year, month and day (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func civil(days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }
}
