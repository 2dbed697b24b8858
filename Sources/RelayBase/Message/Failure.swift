/// One failed attempt, or the failure a job ended with.
///
/// `detail` is safe to show anywhere: it says what failed, where and what to do, and never holds a header value,
/// a body, a token or a query.
///
/// Its content lives in a box of its own, copied on write: failures are rare, and every frame on the way of a
/// request has to have room for one.
public struct Failure: Error, Sendable {
    private final class Content: Sendable {
        let kind: FailureKind
        let sent: Sent
        let detail: String
        let attributes: Attributes

        init(_ kind: FailureKind, _ sent: Sent, _ detail: String, _ attributes: Attributes) {
            self.kind = kind
            self.sent = sent
            self.detail = detail
            self.attributes = attributes
        }
    }

    private struct Attributes: Sendable {
        var status: Status?
        var treatedAsStatus: Status?
        var apiCode: String?
        var apiTitle: String?
        var isRetryable: Bool?
        var retryAfter: Duration?
        var exchange: Exchange?
        var response: HTTPResponse?
        var request: HTTPRequest?
        var url: String?
        var underlying: (any Error)?
        var wantedType: Any.Type?
        var isPastDeadline = false
        var blamed: FailureCause?
        var headerMarks: [Int] = []
        var wasOfOperation = false
    }

    private var content: Content

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - kind: why; a kind of a program's own is written as a string.
    ///   - sent: how far the request got.
    ///   - detail: what failed, where and what to do; never a header value, a body, a token or a query.
    ///   - status: the answer's status, where there was an answer.
    ///   - exchange: where the attempt went, where that is known.
    public init(
        _ kind: FailureKind,
        sent: Sent,
        _ detail: String,
        status: Status? = nil,
        exchange: Exchange? = nil
    ) {
        var attributes = Attributes()
        attributes.status = status
        attributes.exchange = exchange
        content = Content(kind, sent, detail, attributes)
    }

    /// Why the attempt or the job failed.
    public var kind: FailureKind {
        get { content.kind }
        set {
            var attributes = content.attributes
            attributes.wasOfOperation = isOfOperation
            content = Content(newValue, content.sent, content.detail, attributes)
        }
    }

    /// Whether it is how an operation ended that the upstream had begun, whatever the route or a program calls it.
    package var isOfOperation: Bool {
        get {
            content.attributes.wasOfOperation || kind == .operationFailed || kind == .operationLost
                || kind == .followRefused
        }
        set { change { $0.wasOfOperation = newValue } }
    }

    /// How far the request got; what decides whether it may be repeated.
    public var sent: Sent {
        get { content.sent }
        set { content = Content(content.kind, newValue, content.detail, content.attributes) }
    }

    /// The words that say what failed, where and what to do; safe to show anywhere.
    public var detail: String {
        get { content.detail }
        set { content = Content(content.kind, content.sent, newValue, content.attributes) }
    }

    /// The answer's status, where there was an answer.
    public var status: Status? {
        get { content.attributes.status }
        set { change { $0.status = newValue } }
    }

    /// The status rules match against when `error_types` gave one (`treat_as_status`).
    public var treatedAsStatus: Status? {
        get { content.attributes.treatedAsStatus }
        set { change { $0.treatedAsStatus = newValue } }
    }

    /// The upstream's own error code, found by `api_error`.
    public var apiCode: String? {
        get { content.attributes.apiCode }
        set { change { $0.apiCode = newValue } }
    }

    /// The upstream's own title of the error, found by `api_error`; part of the answer, so never logged.
    public var apiTitle: String? {
        get { content.attributes.apiTitle }
        set { change { $0.apiTitle = newValue } }
    }

    /// The verdict on repeating by the validator that named the kind; nil when it gives none.
    public var isRetryable: Bool? {
        get { content.attributes.isRetryable }
        set { change { $0.isRetryable = newValue } }
    }

    /// The cause where more is known than the failure says; nil where the failure says it.
    package var blamed: FailureCause? {
        get { content.attributes.blamed }
        set { change { $0.blamed = newValue } }
    }

    /// How long the upstream asked to be left alone, counted from the answer's arrival.
    public var retryAfter: Duration? {
        get { content.attributes.retryAfter }
        set { change { $0.retryAfter = newValue } }
    }

    /// Where the attempt went and what it took, as far as it got.
    public var exchange: Exchange? {
        get { content.attributes.exchange }
        set { change { $0.exchange = newValue } }
    }

    /// The upstream's answer, where there was one; never part of a message.
    public var response: HTTPResponse? {
        get { content.attributes.response }
        set { change { $0.response = newValue } }
    }

    /// The request that failed, as it was before any per-attempt preparation; only where a program sees the failure.
    public var request: HTTPRequest? {
        get { content.attributes.request }
        set { change { $0.request = newValue } }
    }

    /// Where the attempt went: scheme, host, port and path, never a query; nil where nothing was dialled for it, and in
    /// the daemon.
    public var url: String? {
        get { content.attributes.url }
        set { change { $0.url = newValue } }
    }

    /// Whether the job failed for want of time: its deadline passed, or a rule's wait would have reached it.
    ///
    /// Kind and detail are the last attempt's all the same.
    public var isPastDeadline: Bool {
        get { content.attributes.isPastDeadline }
        set { change { $0.isPastDeadline = newValue } }
    }

    /// Places of those `error_types` whose `header` the answer has.
    package var headerMarks: [Int] {
        get { content.attributes.headerMarks }
        set { change { $0.headerMarks = newValue } }
    }

    /// The type an answer could not be read as; only for the kinds `decoding` and `empty_response`.
    public var wantedType: Any.Type? {
        get { content.attributes.wantedType }
        set { change { $0.wantedType = newValue } }
    }

    /// The error of a program's own validator, decoder, preparation or error document.
    public var underlying: (any Error)? {
        get { content.attributes.underlying }
        set { change { $0.underlying = newValue } }
    }

    private mutating func change(_ body: (inout Attributes) -> Void) {
        var attributes = content.attributes
        body(&attributes)
        content = Content(content.kind, content.sent, content.detail, attributes)
    }

    /// The request cannot be made.
    package static func preparation(_ detail: String) -> Failure {
        Failure(.preparation, sent: .neverSent, detail)
    }

    /// There is no credential to send it with.
    package static func credentialsFailed(_ detail: String) -> Failure {
        Failure(.credentialsFailed, sent: .neverSent, detail)
    }

    package static let callerGone = Failure(.cancelled, sent: .neverSent, "the caller went away")

    /// A body that is larger than may be held.
    ///
    /// `limit` is in bytes, and `key` is what sets it.
    package static func bodyTooLarge(
        limit: Int,
        key: StaticString = "limits.max_response_body"
    ) -> Failure {
        Failure(
            .httpResponseBodySize,
            sent: .answered,
            "the response body is larger than \(limit) bytes; raise \(key) or fix the upstream"
        )
    }
}

extension Failure: CustomStringConvertible {
    /// Kind and detail, the upstream's error code where there is one, where the attempt went, whether time was wanting,
    /// and the type of the program's own error; never what that error says.
    public var description: String {
        var text = "\(kind): \(detail)"
        if let apiCode, !detail.contains(text: apiCode) { text += " (code \(apiCode))" }
        if let url { text += " (at \(url))" }
        if isPastDeadline { text += " (no time was left)" }
        if let underlying { text += " (underlying: \(type(of: underlying)))" }
        return text
    }
}

extension Failure {
    /// Whether the caller ended it, who hung up or did not bring the body it should: it says nothing of the upstream.
    package var isCallers: Bool { kind == .cancelled || kind == .clientGone || kind == .httpRequestError }
}
