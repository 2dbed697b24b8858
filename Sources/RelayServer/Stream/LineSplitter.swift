/// Cuts a stream of bytes into lines; what it holds is bounded by one piece and one line.
///
/// A line ends with a line feed, or with the stream. Spaces, tabs and carriage returns around it do not belong to
/// it, and a line of nothing else is none.
package struct LineSplitter: Sendable {
    package enum Line: Sendable, Equatable {
        case line([UInt8])
        /// The line has more bytes than the limit; they are gone.
        case tooLong
    }

    private enum State {
        /// Nothing of a line has come but blanks. → `line`
        case start
        /// `held` is the beginning of a line. → `start`, `tooLong`
        case line
        /// The rest of a line beyond the limit is thrown away. → `start`
        case tooLong
    }

    private let limit: Int
    private var state = State.start
    private var held: [UInt8] = []
    private var piece: [UInt8] = []
    private var offset = 0

    /// `limit` counts the bytes of one line.
    package init(limit: Int) { self.limit = limit }

    /// Takes the next piece, once `next` has said that there is nothing left of the one before.
    package mutating func feed(_ piece: [UInt8]) {
        precondition(offset == self.piece.count, "a piece came before the last one was used up")
        self.piece = piece
        offset = 0
    }

    /// The next line; nil when that takes another piece.
    package mutating func next() -> Line? {
        while offset < piece.count {
            if state == .start {
                skipBlanks()
                guard offset < piece.count else { break }
                state = .line
            }
            let end = lineFeedOffset()
            if state == .line, held.count + (end - offset) > limit {
                held = []
                state = .tooLong
            }
            if state == .line { held += piece[offset..<end] }
            offset = end
            guard end < piece.count else { break }
            offset += 1
            return finish()
        }
        piece = []
        offset = 0
        return nil
    }

    /// The stream is over: the last line, if it did not end with a line feed.
    package mutating func finish() -> Line? {
        defer {
            state = .start
            held = []
        }
        switch state {
        case .start: return nil
        case .tooLong: return .tooLong
        case .line:
            while let last = held.last, isBlank(last) { held.removeLast() }
            return .line(held)
        }
    }

    private mutating func skipBlanks() {
        while offset < piece.count, isBlank(piece[offset]) || piece[offset] == UInt8(ascii: "\n") {
            offset += 1
        }
    }

    private func lineFeedOffset() -> Int {
        let bytes = piece.span
        var index = offset
        // Eight bytes at once (Warren, "Hacker's Delight", 6-1): the lowest mark set is exact.
        let ones: UInt64 = 0x0101_0101_0101_0101
        while index <= bytes.count &- 8 {
            let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            let feeds = word.littleEndian ^ ones &* UInt64(UInt8(ascii: "\n"))
            let marks = (feeds &- ones) & ~feeds & (ones &* 0x80)
            if marks != 0 { return index &+ marks.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        return index
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
