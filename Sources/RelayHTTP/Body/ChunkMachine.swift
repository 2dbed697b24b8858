import RelayJSON

/// The chunked transfer coding (RFC 9112 §7.1), read strictly.
///
/// Sizes are plain hexadecimal, extensions and trailers are checked, bounded and dropped, and every line end
/// is exactly CRLF: whatever two readers could understand differently is refused.
struct ChunkMachine {
    private enum State {
        /// In the size; so many digits have been read. → `extended`, `sizeEnd`
        case size(digits: Int)
        /// Behind the size's semicolon. → `sizeEnd`
        case extended
        /// Behind the CR of the size line. → `data`, `trailers`
        case sizeEnd
        /// In the data, with `remaining` bytes to come. → `dataEnd`
        case data
        /// Behind the data. → `dataLineFeed`
        case dataEnd
        /// Behind the CR after the data. → `size`
        case dataLineFeed
        /// Behind the last chunk. → `complete`
        case trailers(TrailerMachine)
        case complete
    }

    private var state: State = .size(digits: 0)
    private var remaining: UInt64 = 0
    private var extensionBytes = 0
    /// Bytes at most.
    private let (trailers, extensions): (Int, Int)

    init(limits: HTTPLimits) { (trailers, extensions) = (limits.trailers, limits.chunkExtensions) }

    var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    /// Finds the next run of data at or after `start`; empty, at the first byte not taken, when there is
    /// none.
    mutating func next(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Range<Int> {
        var index = start
        while index < bytes.count, !isComplete {
            if case .data = state {
                let available = UInt64(bytes.count - index)
                let count = min(remaining, available)
                remaining -= count
                if remaining == 0 { state = .dataEnd }
                return index..<index + Int(count)
            }
            try read(bytes[index])
            index += 1
        }
        return index..<index
    }

    /// Reads one byte of framing.
    private mutating func read(_ byte: UInt8) throws(HTTPParseError) {
        switch state {
        case .size(let digits): try readSize(byte, digits)
        case .extended: try readExtension(byte)
        case .sizeEnd:
            guard byte == lineFeed else { throw HTTPParseError(.bareCarriageReturn) }
            state = remaining == 0 ? .trailers(TrailerMachine(limit: trailers)) : .data
        case .dataEnd:
            guard byte == carriageReturn else { throw HTTPParseError(.badChunkEnd) }
            state = .dataLineFeed
        case .dataLineFeed:
            guard byte == lineFeed else { throw HTTPParseError(.badChunkEnd) }
            state = .size(digits: 0)
        case .trailers(var trailers):
            try trailers.read(byte)
            state = trailers.isComplete ? .complete : .trailers(trailers)
        case .data, .complete: break
        }
    }

    private mutating func readSize(_ byte: UInt8, _ digits: Int) throws(HTTPParseError) {
        if let digit = byte.hexadecimalValue {
            // Sixteen digits fill 64 bits; the sign bit must stay clear so that every count is also an Int.
            guard digits < 16 else { throw HTTPParseError(.badChunkSize) }
            remaining = remaining << 4 | UInt64(digit)
            guard remaining <= UInt64(Int64.max) else { throw HTTPParseError(.badChunkSize) }
            state = .size(digits: digits + 1)
            return
        }
        guard digits > 0 else { throw HTTPParseError(.badChunkSize) }
        switch byte {
        case carriageReturn: state = .sizeEnd
        case UInt8(ascii: ";"): state = .extended
        case lineFeed: throw HTTPParseError(.bareLineFeed)
        default: throw HTTPParseError(.badChunkSize)
        }
    }

    private mutating func readExtension(_ byte: UInt8) throws(HTTPParseError) {
        if byte == carriageReturn {
            state = .sizeEnd
            return
        }
        guard byte != lineFeed else { throw HTTPParseError(.bareLineFeed) }
        guard byte >= 0x20 && byte != 0x7F || byte == horizontalTab else {
            throw HTTPParseError(.badChunkExtension)
        }
        extensionBytes += 1
        guard extensionBytes <= extensions else { throw HTTPParseError(.chunkExtensionsTooLarge) }
    }
}
