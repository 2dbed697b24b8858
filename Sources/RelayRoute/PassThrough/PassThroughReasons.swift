/// Why a request took the ordinary path from its beginning.
package enum OrdinaryReason: String, CaseIterable, Sendable {
    case preparation, edits, content, keeping, constrained, limits, listener, shape, fields, credential,
        connection, held

    /// Those that hold for every request of a route.
    package static let ofRoutes: [OrdinaryReason] = [.preparation, .edits, .content, .keeping, .limits]

    package var sentence: String {
        switch self {
        case .preparation: "the route wraps, signs, verifies or hedges its requests, or follows operations"
        case .edits: "the route edits a field that frames messages, or a secret of its query was not read"
        case .content: "the route unwraps or decodes the content of answers, or minds how they stream"
        case .keeping: "the route keeps requests or answers"
        case .constrained:
            "the network is constrained, and the route has an upstream for that, or requests are not sent then as ever"
        case .limits:
            "the route or its callers are bounded by rate, number or planned windows, or answers may have small heads only"
        case .listener: "it may come from a web page, or its listener or caller may not send to the route"
        case .shape: "its request line, framing or size is not plain, or it did not come at once"
        case .fields:
            "it, or one shortly before it on its connection, has a field that has to be looked into, such as "
                + "Idempotency-Key or Prefer"
        case .credential: "the credential has to be fetched, ends soon, or was refused"
        case .connection: "no kept connection to the upstream was free"
        case .held: "permits, the breaker, a pause, short memory or a drain hold it back"
        }
    }
}

/// Why a request that was being passed through went on as an ordinary one.
package enum PromotionReason: String, CaseIterable, Sendable {
    case status, answer, closed, timeout, caller, draining, written

    package var sentence: String {
        switch self {
        case .status: "the status is none that is passed on at once"
        case .answer: "a field of the answer has to be looked into, or all of the answer has to be there"
        case .closed: "the upstream closed or broke the connection"
        case .timeout: "a time limit ended"
        case .caller: "the caller hung up, or the kept job was cancelled"
        case .draining: "the daemon stops, or the caller's connection ends with this answer"
        case .written: "the upstream's socket did not take all of it at once"
        }
    }
}
