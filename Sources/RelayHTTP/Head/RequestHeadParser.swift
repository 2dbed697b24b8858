import RelayBase

/// Finds one request head in the bytes of a connection.
///
/// Give it the same bytes and more until it answers; after a head it is ready for the next. The verdict
/// depends on the bytes alone, never on the pieces they came in.
package struct RequestHeadParser: Sendable {
    private let limits: HTTPLimits
    private var section: FieldSection
    private var line: RequestLine?
    /// Whether the last call ended within a line: the next one first looks for that line's end.
    private var searched = 0

    package init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
        section = FieldSection(limits: limits)
    }

    /// Looks for a head at the start of `bytes`.
    ///
    /// - Throws: why the bytes are no acceptable request; the parser must then be given up.
    package mutating func parse(_ bytes: Span<UInt8>) throws(HTTPParseError) -> HeadResult<RequestHead> {
        let limit = limits.boundedHead
        let isFull = bytes.count >= limit
        let visible = isFull ? bytes.extracting(first: limit) : bytes
        if bytes.count < searched { self = RequestHeadParser(limits: limits) }
        if searched > 0, !isFull, !visible.hasLineFeed(from: searched) {
            searched = visible.count
            return .needsMore
        }
        do throws(HTTPParseError) {
            if let head = try parseLines(visible) { return head }
        } catch {
            // A line's fault counts once the line is complete, or pieces would decide which fault is seen
            // first.
            let start = line == nil ? lineStart(visible) : section.position
            if isFull || error.line == nil || visible.hasLineFeed(from: start) || !mayBegin(visible) {
                throw error
            }
        }
        guard !isFull else { throw HTTPParseError(line == nil ? .targetTooLong : .headTooLarge) }
        searched = visible.count
        return .needsMore
    }

    private mutating func parseLines(_ bytes: Span<UInt8>) throws(HTTPParseError) -> HeadResult<RequestHead>?
    {
        if line == nil {
            guard let found = try RequestLine(bytes, limits) else { return nil }
            line = found
            section.begin(at: found.end)
        }
        guard let line, try section.parse(bytes) else { return nil }
        let facts = section.facts
        let framing = try facts.requestFraming(minorVersion: line.minorVersion)
        let consumed = section.position
        let head = RequestHead(
            method: Method(rawValue: bytes.text(line.method)),
            target: bytes.text(line.target),
            fields: section.take(bytes),
            minorVersion: line.minorVersion,
            framing: framing,
            facts: facts
        )
        self.line = nil
        searched = 0
        section = FieldSection(limits: limits)
        return .head(head, consumed: consumed)
    }

    private func lineStart(_ bytes: Span<UInt8>) -> Int {
        bytes.count >= 2 && bytes[0] == carriageReturn && bytes[1] == lineFeed ? 2 : 0
    }

    /// Whether a request can begin like this; a TLS hello on a plain port need not wait for its line's end.
    private func mayBegin(_ bytes: Span<UInt8>) -> Bool {
        bytes.isEmpty || isToken(bytes[0]) || bytes[0] == carriageReturn
    }
}
