package import RelayBase

/// A failure that leaves it open whether a request was carried out, as long as the upstream is asked about it.
package struct Doubt: Sendable {
    package var failure: Failure
    /// The name of the upstream that may have carried it out; nil where that is not known.
    package var upstream: String?
    /// Whether it is of an earlier life: an operator wants the job to be sent.
    package let isEarlier: Bool
    /// When the attempt failed, in milliseconds since 1970 UTC; nil where nobody knows, as after a crash.
    package let endedAt: Int64?
    /// Questions so far.
    package var tries = 0
    /// Those of them that were sent.
    package var answered = 0

    package init(
        _ failure: Failure,
        upstream: String?,
        isEarlier: Bool = false,
        endedAt: Int64? = nil
    ) {
        (self.failure, self.upstream, self.isEarlier) = (failure, upstream, isEarlier)
        self.endedAt = endedAt
    }

    /// Takes note of a question that was not answered one way or the other.
    package mutating func asked(_ failure: Failure?) {
        tries += 1
        if failure?.sent != .neverSent { answered += 1 }
    }

    /// Whether the relay itself cut the attempt off, so that no rule is asked about it.
    package var isCutOff: Bool {
        switch failure.kind {
        case .interrupted, .cancelled, .storedBodyUnread, .httpRequestError: true
        default: false
        }
    }
}
