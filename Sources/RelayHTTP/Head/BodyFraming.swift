/// Where the body of a message ends (RFC 9112 §6.3).
package enum BodyFraming: Sendable, Equatable {
    /// There is no body.
    case none
    /// So many bytes, at most `Int64.max`.
    case length(UInt64)
    /// As the chunks say.
    case chunked
    /// With the connection; responses only.
    case untilClose

    /// Whether the message is complete with its head.
    package var isEmpty: Bool { self == .none || self == .length(0) }
}

/// The result of a look at the bytes so far.
package enum HeadResult<Head> {
    /// The head is not complete: call again with the same bytes and more.
    case needsMore
    /// A head, and how many bytes it took; the body starts behind them.
    case head(Head, consumed: Int)
}

extension HeadResult: Sendable where Head: Sendable {}
