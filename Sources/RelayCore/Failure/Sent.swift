/// How far a request got: what decides whether it may be repeated.
public enum Sent: String, Sendable {
    /// No byte of the request reached the wire.
    case neverSent = "never_sent"
    /// Bytes were sent and no complete answer came.
    case unknown
    /// A complete response head came, and its body as far as it was wanted.
    case answered
}
