import RelayJSON

/// Cuts the lines that diagnostics are about out of the file, without the secrets in them.
struct ExcerptMaker {
    let source: SourceText
    /// Sorted, without overlaps.
    private let masked: [Range<Int>]
    /// Characters of a line that are shown.
    private static let widthLimit = 160

    init(source: SourceText, masked: [Range<Int>]) {
        self.source = source
        var merged: [Range<Int>] = []
        for range in masked.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        self.masked = merged
    }

    /// The line in which `range` begins.
    func excerpt(of range: Range<Int>) -> Diagnostic.Excerpt {
        let line = source.lineRange(of: range.lowerBound)
        var shown: [Character] = []
        var indent: Int?
        var end: Int?
        var offset = line.lowerBound
        var hidden = masked[...]
        while let first = hidden.first, first.upperBound <= offset { hidden = hidden.dropFirst() }
        while offset < line.upperBound {
            if indent == nil, offset >= range.lowerBound { indent = shown.count }
            if end == nil, offset >= range.upperBound { end = shown.count }
            if let first = hidden.first, first.contains(offset) {
                shown += Array("\"***\"")
                if indent == nil, first.contains(range.lowerBound) { indent = shown.count - 5 }
                offset = first.upperBound
                hidden = hidden.dropFirst()
                continue
            }
            let (character, count) = character(at: offset, before: line.upperBound)
            shown.append(character)
            offset += count
        }
        let start = indent ?? shown.count
        return window(shown, from: start, to: max(end ?? shown.count, start + 1))
    }

    /// The character at `offset` as it may be printed, and the bytes it takes.
    private func character(at offset: Int, before end: Int) -> (Character, Int) {
        var count = 1
        while offset + count < end, source.bytes[offset + count] & 0xC0 == 0x80 { count += 1 }
        let scalars = String(decoding: source.bytes[offset..<offset + count], as: UTF8.self).unicodeScalars
        guard scalars.count == 1, let scalar = scalars.first else { return ("?", count) }
        if scalar == "\t" { return (" ", count) }
        // Anything that would move the cursor, colour the terminal or reorder the line is shown as a question mark.
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
            return ("?", count)
        default: return (Character(scalar), count)
        }
    }

    private func window(_ line: [Character], from start: Int, to end: Int) -> Diagnostic.Excerpt {
        guard line.count > Self.widthLimit else {
            return Diagnostic.Excerpt(
                text: String(line),
                indent: start,
                width: max(1, min(end, line.count) - start)
            )
        }
        let first = max(0, min(start - Self.widthLimit / 2, line.count - Self.widthLimit))
        let last = first + Self.widthLimit
        let before = first > 0 ? "…" : ""
        let text = before + String(line[first..<last]) + (last < line.count ? "…" : "")
        return Diagnostic.Excerpt(
            text: text,
            indent: start - first + before.count,
            width: max(1, min(end, last) - start)
        )
    }
}
