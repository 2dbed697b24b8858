/// Why a request took the ordinary path from its beginning.
package enum OrdinaryReason: String, CaseIterable, Sendable {
    /// The route wraps or signs its requests.
    case preparation
    /// The route edits a field that frames messages.
    case edits
    /// The route looks into the bodies of answers.
    case inspection
    /// The route keeps requests or answers.
    case keeping
    /// The route has an upstream of its own for constrained networks.
    case constrained
    /// Limits of callers are counted, or those of answers are small.
    case limits
    /// It came over TCP or another operator's socket.
    case listener
    /// Its head, framing or size is not plain, or it did not come at once.
    case shape
    /// It has a field that has to be looked into, such as `Idempotency-Key` or `Prefer`.
    case fields
    /// The credential has to be fetched, or was refused.
    case credential
    /// No kept connection to the upstream was free.
    case connection
    /// Something holds the route back: permits, its breaker, a pause, a drain.
    case held
}

/// Why a request that was being passed through went on as an ordinary one.
package enum PromotionReason: String, CaseIterable, Sendable {
    /// The status may call for recovery.
    case status
    /// The answer came in pieces, or has a field that has to be looked into.
    case answer
    /// The upstream closed or broke the connection.
    case closed
    /// A time limit ended.
    case timeout
    /// The caller hung up.
    case caller
    /// The daemon stops.
    case draining
    /// The upstream's socket did not take all of it.
    case written
}
