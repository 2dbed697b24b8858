import RelayJSON

extension IMFDate {
    /// Reads any of the three forms of RFC 9110 §5.6.7, to the letter; nil for anything else.
    ///
    /// The day's name must be one, but need not be that date's: senders get it wrong, and nothing depends on
    /// it.
    ///
    /// - Parameters:
    ///   - text: the field value without surrounding white space.
    ///   - now: seconds since 1970, which place the two-digit year of the RFC 850 form.
    /// - Returns: seconds since 1970.
    package static func parse(_ text: Span<UInt8>, now: Int64) -> Int64? {
        // The longest is `Wednesday, 06-Nov-94 08:49:37 GMT`.
        guard (24...33).contains(text.count) else { return nil }
        var reader = DateReader(text)
        let date =
            if text[3] == UInt8(ascii: ",") { reader.fixedDate() } else if text[3] == UInt8(ascii: " ") {
                reader.asctimeDate()
            } else { reader.dashedDate(now: now) }
        guard let date, date.isValid, reader.isAtEnd else { return nil }
        return date.secondsSince1970
    }
}

/// Reads a date from left to right; every step fails with nil.
private struct DateReader {
    private let text: [UInt8]
    private var index = 0

    init(_ text: Span<UInt8>) { self.text = (0..<text.count).map { text[$0] } }

    var isAtEnd: Bool { index == text.count }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func fixedDate() -> CivilDate? {
        guard name(IMFDate.days) != nil, skip(", "), let day = number(2), skip(" "),
            let month = name(IMFDate.months), skip(" "), let year = number(4), skip(" ")
        else { return nil }
        return time(year, month + 1, day, endsWith: " GMT")
    }

    /// Reads `Sunday, 06-Nov-94 08:49:37 GMT`.
    mutating func dashedDate(now: Int64) -> CivilDate? {
        guard name(IMFDate.longDays) != nil, skip(", "), let day = number(2), skip("-"),
            let month = name(IMFDate.months), skip("-"), let year = number(2), skip(" ")
        else { return nil }
        // RFC 9110 §5.6.7: a date more than 50 years ahead is the most recent past year with those digits.
        let clamped = min(max(now, IMFDate.earliest), IMFDate.latest)
        let thisYear = CivilDate(secondsSince1970: clamped).year
        var full = thisYear - thisYear % 100 + year
        if full > thisYear + 50 { full -= 100 }
        return time(full, month + 1, day, endsWith: " GMT")
    }

    /// Reads `Sun Nov  6 08:49:37 1994`.
    mutating func asctimeDate() -> CivilDate? {
        guard name(IMFDate.days) != nil, skip(" "), let month = name(IMFDate.months), skip(" "),
            let day = skip(" ") ? number(1) : number(2), skip(" "),
            let clock = time(1970, 1, 1, endsWith: " "), let year = number(4)
        else { return nil }
        return CivilDate(
            year: year,
            month: month + 1,
            day: day,
            hour: clock.hour,
            minute: clock.minute,
            second: clock.second
        )
    }

    private mutating func time(
        _ year: Int,
        _ month: Int,
        _ day: Int,
        endsWith end: StaticString
    ) -> CivilDate? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            skip(end)
        else { return nil }
        return CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    private mutating func skip(_ wanted: StaticString) -> Bool {
        let length = wanted.utf8CodeUnitCount
        guard text.count - index >= length else { return false }
        for offset in 0..<length {
            let byte = unsafe wanted.utf8Start[offset]
            guard text[index + offset] == byte else { return false }
        }
        index += length
        return true
    }

    private mutating func name(_ names: [StaticString]) -> Int? {
        for (place, name) in names.enumerated() where skip(name) { return place }
        return nil
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard text.count - index >= digits else { return nil }
        var number = 0
        for _ in 0..<digits {
            guard text[index].isDigit else { return nil }
            number = number * 10 + Int(text[index] - UInt8(ascii: "0"))
            index += 1
        }
        return number
    }
}
