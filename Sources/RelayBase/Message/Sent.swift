/// How far a request got: what decides whether it may be repeated.
///
/// A request that is not safe to repeat is repeated after `neverSent` and `refused` only, unless a rule says
/// ``RepeatableMethods/any``.
public enum Sent: String, CaseIterable, Sendable {
    /// No byte of the request reached the wire.
    case neverSent = "never_sent"
    /// An answer came that says the request was not carried out: 4xx, or 503 with `Retry-After`.
    case refused
    /// Bytes were sent and no complete answer came.
    case unknown
    /// A complete response head came, and its body as far as it was wanted; what it says does not rule out that the
    /// request was carried out.
    case answered

    /// Whether the upstream may have done what was asked.
    package var mayHaveActed: Bool { self == .unknown || self == .answered }
}
