extension StringProtocol {
    /// Whether `part` stands in it, byte for byte; an empty one does everywhere.
    ///
    /// Swift's own search for a part longer than a character takes a reader of regular expressions into the program.
    package func contains(text part: some StringProtocol) -> Bool {
        let (whole, part) = (Array(utf8), Array(part.utf8))
        guard part.count <= whole.count else { return false }
        return (0...whole.count - part.count).contains { whole[$0...].starts(with: part) }
    }

    /// The parts before, between and after each `separator`, which is not empty.
    package func parts(between separator: String) -> [String] {
        let (whole, separator) = (Array(utf8), Array(separator.utf8))
        var parts: [String] = []
        var (start, place) = (0, 0)
        while place < whole.count {
            guard whole[place...].starts(with: separator) else {
                place += 1
                continue
            }
            parts.append(String(decoding: whole[start..<place], as: UTF8.self))
            place += separator.count
            start = place
        }
        return parts + [String(decoding: whole[start...], as: UTF8.self)]
    }
}
