package import RelayBase

/// Finds one response head in the bytes of a connection.
///
/// Give it the same bytes and more until it answers. An interim (1xx) head comes out like any other, without
/// a body: pass over a bounded number of them and parse on. `101` is refused, as nothing here asks for it.
package struct ResponseHeadParser: Sendable {
    private let limits: HTTPLimits
    private let requestMethod: Method
    private var section: FieldSection
    private var line: StatusLine?
    private var searched = 0

    /// Reads the answer to a request of `requestMethod`; one to HEAD has no body, whatever it announces.
    package init(limits: HTTPLimits = HTTPLimits(), requestMethod: Method) {
        self.limits = limits
        self.requestMethod = requestMethod
        section = FieldSection(limits: limits)
    }

    /// Looks for a head at the start of `bytes`.
    ///
    /// - Throws: why the bytes are no acceptable response; the connection must then be given up.
    package mutating func parse(_ bytes: Span<UInt8>) throws(HTTPParseError) -> HeadResult<ResponseHead> {
        let limit = limits.boundedHead
        let isFull = bytes.count >= limit
        let visible = isFull ? bytes.extracting(first: limit) : bytes
        if bytes.count < searched { self = ResponseHeadParser(limits: limits, requestMethod: requestMethod) }
        if searched > 0, !isFull, !visible.hasLineFeed(from: searched) {
            searched = visible.count
            return .needsMore
        }
        do throws(HTTPParseError) {
            if let head = try parseLines(visible) { return head }
        } catch {
            let start = line == nil ? 0 : section.position
            let begins = visible.isEmpty || visible[0] == UInt8(ascii: "H")
            if isFull || error.line == nil || visible.hasLineFeed(from: start) || !begins {
                throw error
            }
        }
        guard !isFull else { throw HTTPParseError(.headTooLarge) }
        searched = visible.count
        return .needsMore
    }

    private mutating func parseLines(_ bytes: Span<UInt8>) throws(HTTPParseError) -> HeadResult<ResponseHead>?
    {
        if line == nil {
            guard let found = try StatusLine(bytes) else { return nil }
            line = found
            section.begin(at: found.end)
        }
        guard let line, try section.parse(bytes) else { return nil }
        let facts = section.facts
        let framing = try facts.responseFraming(
            status: line.status,
            minorVersion: line.minorVersion,
            requestMethod: requestMethod
        )
        let consumed = section.position
        let head = ResponseHead(
            status: line.status,
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
}
