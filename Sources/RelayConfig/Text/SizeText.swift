/// Sizes as they are written: `512B`, `256KiB`, `16MiB`, `2GiB`.
package enum SizeText {
    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Reads a size of at most a million of the largest unit.
    package static func parse(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.utf8.count <= 15, let count = Int(digits) else { return nil }
        guard let unit = units.first(where: { $0.name == text[digits.endIndex...] }) else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
        return overflow || product > 1_000_000 << 30 ? nil : product
    }

    /// The size in the largest unit that divides it.
    package static func text(_ bytes: Int) -> String {
        for unit in units where bytes >= unit.bytes && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "\(bytes)B"
    }
}
