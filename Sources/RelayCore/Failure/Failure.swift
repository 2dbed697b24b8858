/// One failed attempt, or the failure a job ended with.
///
/// `detail` is safe to show anywhere: it says what failed, where and what to do, and never holds a header value,
/// a body, a token or a query.
package struct Failure: Error, Sendable {
    package var kind: FailureKind
    package var sent: Sent
    package var detail: String
    /// The answer's status, where there was an answer.
    package var status: Status?
    /// The status rules match against when `error_types` gave one (`treat_as_status`).
    package var treatedAsStatus: Status?
    /// The upstream's own error code, found by `api_error`.
    package var apiCode: String?
    /// The upstream's own title of the error, found by `api_error`; part of the answer, so never logged.
    package var apiTitle: String?
    /// What the validator that named the kind says about repeating; nil when it says nothing.
    package var isRetryable: Bool?
    /// How long the upstream asked to be left alone, counted from the answer's arrival.
    package var retryAfter: Duration?
    /// Where the attempt went and what it took, as far as it got.
    package var exchange: Exchange?

    package init(
        _ kind: FailureKind, sent: Sent, _ detail: String, status: Status? = nil, exchange: Exchange? = nil
    ) {
        self.kind = kind
        self.sent = sent
        self.detail = detail
        self.status = status
        self.exchange = exchange
    }

    package static func bodyTooLarge(limit: Int) -> Failure {
        Failure(
            .httpResponseBodySize, sent: .answered,
            "the response body is larger than \(limit) bytes; raise limits.max_response_body or fix the upstream")
    }
}

/// Facts of one exchange on the wire.
package struct Exchange: Sendable {
    /// The address that was dialled, with port; nil when none was.
    package var address: String?
    /// Whether the connection had served a request before.
    package var wasReused = false
    /// Time to look up the name; zero when it was not.
    package var nameLookup: Duration = .zero
    /// Time to connect, TLS included; zero on a reused connection.
    package var connect: Duration = .zero
    /// Time from the first byte sent to the response head; nil when none came.
    package var firstByte: Duration?

    package init(address: String? = nil, wasReused: Bool = false) {
        self.address = address
        self.wasReused = wasReused
    }
}
