/// A transport that needs no task for what has not to wait before it is sent.
///
/// Used from one thread, the one on which its answers are told.
package protocol PromptTransport: Transport {
    /// Sends over a connection that is kept, where there is one; `receiver` is told once what came of it, after this has
    /// returned.
    ///
    /// - Returns: nil when the request would have to wait, or may not be sent: nothing was done.
    func sendNow(_ request: OutboundRequest, _ receiver: any AnswerReceiver) -> (any Sending)?
}

/// A request that was sent without a task.
package protocol Sending: Sendable {
    /// Ends it, from any thread: the receiver is told `cancelled`, at once or later, unless it has been told.
    func cancel()
}

/// Who sent a request without a task.
package protocol AnswerReceiver: AnyObject {
    func received(_ result: PromptResult)
}

/// What came of a request that was sent without a task.
package enum PromptResult: Sendable {
    case answer(InboundResponse)
    case failure(Failure)
    /// The kept connection was gone; whether the request may go out once more, and what comes of it, has to be waited
    /// for, on the same thread.
    case gone(@Sendable () async throws(Failure) -> InboundResponse)
}
