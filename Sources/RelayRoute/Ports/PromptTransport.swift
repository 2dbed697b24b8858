package import RelayBase

/// A transport that sends without a task what is at hand.
///
/// Used from one thread, the one on which its answers are told.
package protocol PromptTransport: Transport {
    /// Sends over a connection that is kept, or made for it; `receiver` is told once what came of that, after this has
    /// returned.
    ///
    /// - Throws: why the request may not be sent; nobody is told then.
    func sendNow(
        _ request: OutboundRequest,
        _ receiver: any AnswerReceiver
    ) throws(Failure) -> any Sending
}

/// A wait without a task: for a request that was sent, or for a moment.
package protocol Sending: Sendable {
    /// Ends it, from any thread: the receiver is told, at once or later, unless it has been told; of a request that it
    /// was `cancelled`.
    func cancel()
}

/// The one that waits without a task.
package protocol AnswerReceiver: AnyObject {
    func received(_ result: PromptResult)
}

/// The end of a wait without a task.
package enum PromptResult: Sendable {
    case answer(InboundResponse)
    case failure(Failure)
    /// The kept connection was gone; whether the request may go out once more, and what comes of it, has to be waited
    /// for, on the same thread.
    case gone(@Sendable () async throws(Failure) -> InboundResponse)
    /// The moment has come, or was waited for in vain.
    case woken
}

/// Clocks by which one can wait without a task; used from one thread, as the transport beside them.
package protocol PromptTime: TimeSource {
    /// Has `receiver` told once that `moment` has come, after this has returned.
    func wake(_ receiver: any AnswerReceiver, at moment: Instant) -> any Sending
}
