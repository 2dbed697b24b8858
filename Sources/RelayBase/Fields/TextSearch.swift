extension StringProtocol {
    /// Whether `part` stands in it, byte for byte; an empty one does everywhere.
    ///
    /// Swift's own search for a part longer than a character takes a reader of regular expressions into the program.
    package func contains(text part: some StringProtocol) -> Bool {
        let (whole, part) = (Array(utf8), Array(part.utf8))
        guard part.count <= whole.count else { return false }
        return (0...whole.count - part.count).contains { whole[$0...].starts(with: part) }
    }
}
