/// Durations as they are written: `250ms`, `1h30m`, `3d`; units from large to small, each once.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Reads a duration of whole milliseconds, at most ten thousand days.
    package static func parse(_ text: String) -> Duration? {
        var rest = text.utf8[...]
        var total: Int64 = 0
        var nextUnit = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...12).contains(digits.count) else { return nil }
            let count = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            rest = rest[digits.endIndex...]
            let name = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            rest = rest[name.endIndex...]
            guard let index = units.firstIndex(where: { name.elementsEqual($0.name.utf8) }), index >= nextUnit
            else {
                return nil
            }
            nextUnit = index + 1
            let (product, overflow) = count.multipliedReportingOverflow(by: units[index].milliseconds)
            guard !overflow, product <= 864_000_000_000 else { return nil }
            total += product
        }
        guard total <= 864_000_000_000 else { return nil }
        return .milliseconds(total)
    }

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
