public import RelayBase

/// Sends one attempt and reports exactly one of: a response, or a failure with a `sent` verdict.
///
/// Cancelling the task closes the attempt: the call then throws `cancelled`.
public protocol Transport: AnyObject, Sendable {
    /// Sends one attempt and waits for the answer's head.
    ///
    /// - Returns: the answer; its content may still be on the way.
    /// - Throws: why there is no answer, with how far the request got in ``Failure/sent``.
    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse
}

/// One attempt, complete: nothing is added to it but `Host` and framing.
public final class OutboundRequest: Sendable {
    /// Where it goes.
    public let upstream: Upstream
    /// The method.
    public let method: Method
    /// Origin form with the upstream's base path: `/api/orders/7?full=1`.
    public let target: String
    /// The request's own end-to-end fields.
    public let fields: HeaderFields
    /// Fields that follow `fields`: what the relay adds, so that the caller's need no copy.
    public let addedFields: HeaderFields
    /// The content.
    public let body: Body
    /// The moment by which the response head must be there; the time in which the request's content moves is not counted,
    /// and comes on top.
    public let deadline: Instant
    /// The waits inside the attempt.
    public let timeouts: AttemptTimeouts
    /// The bounds on what the answer may cost.
    public let limits: ResponseLimits
    /// Whether sending it twice does no more than sending it once: its method is idempotent, or it carries a key.
    public let isRepeatable: Bool
    /// The limit that sets the deadline, for messages; nil where nobody has said.
    public let timeLimit: TimeLimit?
    /// Where a second sending within the attempt goes on record first; nil for a request that nobody keeps.
    package let log: (any AttemptLog)?
    /// After which nothing goes on but an answer that streams; nil where nobody bounds all of it.
    package let end: TimeBound?
    /// Whether `traceparent`, `tracestate` and `baggage` of `fields` stay here; they are left out where the head is written,
    /// so that the caller's fields need no copy for it.
    package let keepsTrace: Bool

    /// Puts an attempt together; for transports that pass a changed attempt on to another.
    public convenience init(
        upstream: Upstream,
        method: Method,
        target: String,
        fields: HeaderFields,
        addedFields: HeaderFields = HeaderFields(),
        body: Body,
        deadline: Instant,
        timeouts: AttemptTimeouts,
        limits: ResponseLimits,
        isRepeatable: Bool = false,
        timeLimit: TimeLimit? = nil
    ) {
        self.init(
            upstream: upstream,
            method: method,
            target: target,
            fields: fields,
            addedFields: addedFields,
            body: body,
            deadline: deadline,
            timeouts: timeouts,
            limits: limits,
            isRepeatable: isRepeatable,
            timeLimit: timeLimit,
            log: nil
        )
    }

    package init(
        upstream: Upstream,
        method: Method,
        target: String,
        fields: HeaderFields,
        addedFields: HeaderFields,
        body: Body,
        deadline: Instant,
        timeouts: AttemptTimeouts,
        limits: ResponseLimits,
        isRepeatable: Bool,
        timeLimit: TimeLimit?,
        log: (any AttemptLog)?,
        end: TimeBound? = nil,
        keepsTrace: Bool = false
    ) {
        self.upstream = upstream
        self.method = method
        self.target = target
        self.fields = fields
        self.addedFields = addedFields
        self.body = body
        self.deadline = deadline
        self.timeouts = timeouts
        self.limits = limits
        self.isRepeatable = isRepeatable
        self.timeLimit = timeLimit
        self.log = log
        self.end = end
        self.keepsTrace = keepsTrace
    }

    /// The same attempt with its content from the beginning; nil where that is gone.
    package var again: OutboundRequest? {
        if case .stream(let source) = body, source.restarted() == nil { return nil }
        return OutboundRequest(
            upstream: upstream,
            method: method,
            target: target,
            fields: fields,
            addedFields: addedFields,
            body: body.fresh,
            deadline: deadline,
            timeouts: timeouts,
            limits: limits,
            isRepeatable: isRepeatable,
            timeLimit: timeLimit,
            log: log,
            end: end,
            keepsTrace: keepsTrace
        )
    }
}

extension OutboundRequest {
    /// Every field that is sent but `Host` and framing: the request's own, then what the relay adds.
    public var allFields: HeaderFields {
        var all = fields
        if keepsTrace { for name in TracePropagation.fieldNames { all.remove(name) } }
        for (name, value) in addedFields.pairs { all.append(name, value) }
        return all
    }

    /// The value of a field that is sent, whoever set it; nil when there is no such field.
    public subscript(name: FieldName) -> String? {
        if keepsTrace, TracePropagation.fieldNames.contains(name) { return addedFields[name] }
        return fields[name] ?? addedFields[name]
    }

    /// The content that is in memory as text; nil when it is not UTF-8, empty where there is none.
    public var text: String? {
        guard case .bytes(let bytes) = body else { return "" }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension OutboundRequest: CustomStringConvertible {
    /// Method, upstream and path without the query, the fields' names with the lengths of their values, and the size
    /// of the content.
    public var description: String {
        "\(method.rawValue) \(upstream.origin.text)\(target.prefix { $0 != "?" }) \(allFields) \(body)"
    }
}

/// The answer to one attempt.
public struct InboundResponse: Sendable {
    /// Head and content.
    public var response: HTTPResponse
    /// Where the attempt went and what it took.
    public var exchange: Exchange

    /// Pairs an answer with the facts of its exchange.
    public init(response: HTTPResponse, exchange: Exchange) {
        self.response = response
        self.exchange = exchange
    }
}
