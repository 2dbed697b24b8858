import RelayJSON

extension UTCTime {
    /// Reads a date and time of RFC 3339 §5.6, such as `2026-11-21T04:29:43.250+01:00`.
    ///
    /// - Returns: milliseconds since 1970 UTC; nil when it is not well-formed, names no moment, or one
    ///   after the year 9999 in UTC.
    package static func milliseconds(parsing text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40, bytes[4] == UInt8(ascii: "-"),
            bytes[7] == UInt8(ascii: "-"), bytes[10] | 0x20 == UInt8(ascii: "t"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19])
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        var rest = bytes[19...]
        guard date.isValid, let fraction = fraction(&rest), let offset = offset(rest) else { return nil }
        let seconds = date.secondsSince1970 - offset
        return seconds <= lastSecond ? seconds * 1000 + fraction : nil
    }

    /// Reads what `format(seconds:)` writes.
    ///
    /// - Returns: seconds since 1970; nil for any other text.
    package static func seconds(parsing text: String) -> Int64? {
        guard let seconds = milliseconds(parsing: text).map({ $0 / 1_000 }), format(seconds: seconds) == text
        else { return nil }
        return seconds
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Takes the fraction of a second away; what is finer than a millisecond is dropped.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        let digits = rest.dropFirst().prefix(while: \.isDigit)
        rest = rest.dropFirst(digits.count + 1)
        let milliseconds = Array(digits.prefix(3)) + Array(repeating: UInt8(ascii: "0"), count: 3)
        return digits.isEmpty ? nil : number(milliseconds[0..<3]).map(Int64.init)
    }

    /// Seconds that the zone is ahead of UTC.
    private static func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
        let bytes = Array(zone)
        if bytes.count == 1, bytes[0] | 0x20 == UInt8(ascii: "z") { return 0 }
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
            bytes[3] == UInt8(ascii: ":"), let hours = number(bytes[1..<3]), hours < 24,
            let minutes = number(bytes[4..<6]), minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3_600 + minutes * 60)
        return bytes[0] == UInt8(ascii: "-") ? -seconds : seconds
    }
}
