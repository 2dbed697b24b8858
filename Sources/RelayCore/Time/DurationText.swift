/// Durations as people write them: `250ms`, `20s`, `1h30m`, `3d`.
package enum DurationText {
    /// Reads whole numbers with units `ms`, `s`, `m`, `h`, `d`, largest first, each at most once.
    ///
    /// - Returns: nil for anything else, a bare number included, and for more than ten years.
    package static func parse(_ text: String) -> Duration? {
        var rest = Substring(text).utf8
        var total: Int64 = 0
        var lastUnit = Int64.max
        guard !rest.isEmpty else { return nil }
        while let first = rest.first {
            guard isDigitByte(first) else { return nil }
            var count: Int64 = 0
            while let digit = rest.first, isDigitByte(digit) {
                count = count * 10 + Int64(digit - UInt8(ascii: "0"))
                guard count <= 315_360_000_000 else { return nil }
                rest.removeFirst()
            }
            let letters = rest.prefix { !isDigitByte($0) }
            guard let unit = unit(Substring(letters)), unit < lastUnit else { return nil }
            rest.removeFirst(letters.count)
            lastUnit = unit
            let (product, overflow) = count.multipliedReportingOverflow(by: unit)
            guard !overflow, product <= longest - total else { return nil }
            total += product
        }
        return .milliseconds(total)
    }

    /// The shortest text `parse` reads back; fractions of a millisecond are cut off.
    package static func format(_ duration: Duration) -> String {
        var milliseconds = max(0, duration.saturatedNanoseconds / 1_000_000)
        guard milliseconds > 0 else { return "0s" }
        var text = ""
        for (name, unit) in units where milliseconds >= unit {
            text += "\(milliseconds / unit)\(name)"
            milliseconds %= unit
        }
        return text
    }

    private static let longest: Int64 = 315_360_000_000
    private static let units: [(String, Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    private static func unit(_ name: Substring) -> Int64? { units.first { $0.0 == name }?.1 }
}
