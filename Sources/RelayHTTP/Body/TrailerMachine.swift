/// The trailer fields behind the last chunk: checked like any field, bounded, and dropped (RFC 9110 §6.5.1).
struct TrailerMachine {
    private enum State {
        /// At the start of a line. → `name`, `lastLineFeed`
        case lineStart
        case name
        case value
        /// Behind the CR of a field. → `lineStart`
        case fieldEnd
        /// Behind the CR of the empty line. → `complete`
        case lastLineFeed
        case complete
    }

    private var state: State = .lineStart
    private var count = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isComplete: Bool { state == .complete }

    mutating func read(_ byte: UInt8) throws(HTTPParseError) {
        switch state {
        case .lineStart:
            if byte == carriageReturn {
                state = .lastLineFeed
                return
            }
            guard isToken(byte) else { throw HTTPParseError(byte == lineFeed ? .bareLineFeed : .badTrailer) }
            state = .name
        case .name:
            guard isToken(byte) || byte == colon else { throw HTTPParseError(.badTrailer) }
            if byte == colon { state = .value }
        case .value:
            guard byte != lineFeed else { throw HTTPParseError(.bareLineFeed) }
            guard byte >= 0x20 && byte != 0x7F || byte == horizontalTab || byte == carriageReturn else {
                throw HTTPParseError(.badTrailer)
            }
            if byte == carriageReturn { state = .fieldEnd }
        case .fieldEnd:
            guard byte == lineFeed else { throw HTTPParseError(.bareCarriageReturn) }
            state = .lineStart
        case .lastLineFeed:
            guard byte == lineFeed else { throw HTTPParseError(.bareCarriageReturn) }
            state = .complete
        case .complete: return
        }
        count += 1
        guard count <= limit else { throw HTTPParseError(.trailersTooLarge) }
    }
}
