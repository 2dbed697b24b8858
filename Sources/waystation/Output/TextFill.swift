/// Text in lines of a width.
enum TextFill {
    /// - Parameters:
    ///   - text: words with single blanks between them; one that is wider than a line stands in a line of its own.
    ///   - columns: of a line.
    ///   - indent: blanks before the first line.
    ///   - hanging: blanks before the others.
    /// - Returns: the lines, each with its end.
    static func lines(_ text: String, columns: Int, indent: Int, hanging: Int) -> String {
        var lines: [String] = []
        var line = String(repeating: " ", count: indent)
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > columns {
                lines.append(line)
                line = String(repeating: " ", count: hanging)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).map { $0 + "\n" }.joined()
    }
}
