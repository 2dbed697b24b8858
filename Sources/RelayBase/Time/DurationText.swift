import RelayJSON

/// Durations as they are written: `250ms`, `1h30m`, `3d`; units from large to small, each once.
package enum DurationText {
    private static let units: [(name: StaticString, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Reads a duration of whole milliseconds, at most ten thousand days.
    package static func parse(_ text: String) -> Duration? { parse(text.utf8.span) }

    /// The same of a text that stands among others.
    package static func parse(_ text: Span<UInt8>) -> Duration? {
        var (index, total, nextUnit) = (0, Int64(0), 0)
        guard !text.isEmpty else { return nil }
        while index < text.count {
            let digits = index
            var count: Int64 = 0
            while index < text.count, text[index].isDigit {
                guard index - digits < 12 else { return nil }
                count = count * 10 + Int64(text[index] - UInt8(ascii: "0"))
                index += 1
            }
            guard index > digits else { return nil }
            let name = index
            while index < text.count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index]) {
                index += 1
            }
            guard let unit = unit(text.extracting(name..<index)), unit >= nextUnit else { return nil }
            nextUnit = unit + 1
            let (product, overflow) = count.multipliedReportingOverflow(by: units[unit].milliseconds)
            guard !overflow, product <= 864_000_000_000 else { return nil }
            total += product
        }
        guard total <= 864_000_000_000 else { return nil }
        return .milliseconds(total)
    }

    /// Where a unit stands among the others.
    private static func unit(_ name: Span<UInt8>) -> Int? { units.firstIndex { name.isSame(as: $0.name) } }

    /// The shortest text `parse` reads as the same duration.
    package static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        var rest = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard rest > 0 else { return "0s" }
        var text = ""
        for unit in units where rest >= unit.milliseconds {
            text += "\(rest / unit.milliseconds)\(unit.name)"
            rest %= unit.milliseconds
        }
        return text
    }
}
