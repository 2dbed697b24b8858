/// A text and its lines, for messages that point into it.
package struct SourceText: Sendable {
    package let bytes: [UInt8]
    /// Offset of the first byte of every line.
    private let lineStarts: [Int]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            starts.append(offset + 1)
        }
        lineStarts = starts
    }

    /// Line and column of the byte at `offset`; an offset beyond the end stands for the end.
    package func position(of offset: Int) -> JSONPosition {
        let offset = min(max(offset, 0), bytes.count)
        let line = lineIndex(of: offset)
        let column = bytes[lineStarts[line]..<offset].count { $0 & 0xC0 != 0x80 } + 1
        return JSONPosition(line: line + 1, column: column)
    }

    /// Offsets of the line that holds `offset`, its end of line left out.
    package func lineRange(of offset: Int) -> Range<Int> {
        let line = lineIndex(of: min(max(offset, 0), bytes.count))
        let start = lineStarts[line]
        var end = line + 1 < lineStarts.count ? lineStarts[line + 1] - 1 : bytes.count
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return start..<max(end, start)
    }

    private func lineIndex(of offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }
}

/// A place in a text, counted from 1; columns count characters of UTF-8, a tab as one.
package struct JSONPosition: Hashable, Sendable, Comparable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (lhs: JSONPosition, rhs: JSONPosition) -> Bool {
        (lhs.line, lhs.column) < (rhs.line, rhs.column)
    }
}
