/// A date and time of day in UTC on the proleptic Gregorian calendar, which need not be valid.
struct CivilDate {
    var year: Int
    /// 1 to 12.
    var month: Int
    /// 1 to 31.
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// 0 is Sunday.
    var weekday: Int {
        let days = Self.daysSince1970(year: year, month: month, day: day)
        // 1970-01-01 was a Thursday.
        return Int(((days + 4) % 7 + 7) % 7)
    }

    var secondsSince1970: Int64 {
        Self.daysSince1970(year: year, month: month, day: day) * 86_400
            + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// Whether it names a moment.
    ///
    /// Second 60 passes and counts as the first of the next minute (RFC 9110 §5.6.7, RFC 3339 §5.7).
    var isValid: Bool {
        (1...12).contains(month) && day >= 1 && day <= Self.daysInMonth(month, year: year)
            && (0...23).contains(hour) && (0...59).contains(minute) && (0...60).contains(second)
    }

    static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    // Both conversions count from 0000-03-01 in eras of 400 years, 146,097 days each (Hinnant, "chrono-Compatible
    // Low-Level Date Algorithms"): with the leap day at a year's end, the days before month m (March = 0) are
    // (153 m + 2) / 5, and the year of a day is found by taking the leap days off.
    private static let daysToEpoch: Int64 = 719_468

    static func daysSince1970(year: Int, month: Int, day: Int) -> Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * ((month + 9) % 12) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - daysToEpoch
    }
}

extension CivilDate {
    /// Splits a moment, which callers bound to the years 1 to 9999.
    init(secondsSince1970 seconds: Int64) {
        let dayNumber = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let secondOfDay = Int(seconds - dayNumber * 86_400)
        let shiftedDay = dayNumber + Self.daysToEpoch
        let era = (shiftedDay >= 0 ? shiftedDay : shiftedDay - 146_096) / 146_097
        let dayOfEra = shiftedDay - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = Int(dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100))
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = secondOfDay / 3_600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
    }
}
