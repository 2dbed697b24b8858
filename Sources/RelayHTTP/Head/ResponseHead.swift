package import RelayBase

/// A status line and its fields, checked.
package struct ResponseHead: Sendable {
    package var status: Status
    package var fields: HeaderFields
    package var framing: BodyFraming
    /// Whether the connection may carry another request once the body is read.
    package var keepsAlive: Bool

    /// Whether the final answer is still to come (1xx).
    package var isInterim: Bool { status.rawValue < 200 }

    init(status: Status, fields: HeaderFields, minorVersion: Int, framing: BodyFraming, facts: FieldFacts) {
        self.status = status
        self.fields = fields
        self.framing = framing
        let announcesNothing = !facts.isChunked && (facts.contentLength ?? 0) == 0
        // A 204 must not announce a body (RFC 9112 §6.1); one that does may be followed by it.
        let isClean = status != 204 || announcesNothing
        let persists = minorVersion == 1 ? !facts.closes : facts.keepsAlive && !facts.closes
        keepsAlive = persists && isClean && framing != .untilClose
    }
}
