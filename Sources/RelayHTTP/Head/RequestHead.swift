package import RelayBase

/// A request line and its fields, checked: what a server needs to know before it reads the body.
package struct RequestHead: Sendable {
    package var method: Method
    /// As sent: visible ASCII, not decoded, not yet split.
    package var target: String
    package var fields: HeaderFields
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    package var minorVersion: Int
    package var framing: BodyFraming
    /// Whether the connection may carry another request afterwards.
    package var keepsAlive: Bool
    /// Whether the sender waits for `100 Continue` before it sends the body.
    package var expectsContinue: Bool

    init(
        method: Method,
        target: String,
        fields: HeaderFields,
        minorVersion: Int,
        framing: BodyFraming,
        facts: FieldFacts
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.minorVersion = minorVersion
        self.framing = framing
        keepsAlive = minorVersion == 1 && !facts.closes
        // RFC 9110 §10.1.1: from HTTP/1.0, or without a body, the expectation means nothing.
        expectsContinue = facts.expectsContinue && minorVersion == 1 && !framing.isEmpty
    }

    /// The Host field's value as received; nil only for HTTP/1.0 without one.
    package var host: String? { fields[.host] }
}
