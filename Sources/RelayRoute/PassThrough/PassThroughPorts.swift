package import RelayBase

// A request that is only passed on asks its transport by these; any other event makes an ordinary request of it first.

/// The caller's side of a request that is passed through.
package protocol PassThroughReceiver: AnyObject {
    /// Whether a plain answer can be passed on as one.
    var takesPlainAnswer: Bool { get }
    /// The receiver of an answer's content that comes by pieces, or in chunks; nil where it must be there as a whole.
    var pieces: (any PieceReceiver)? { get }
    /// Whether an answer of so many bytes may be waited for in memory.
    func hasMemory(for bytes: Int) -> Bool
    /// The answer came; its bytes are a loan. The content that is not there yet comes by pieces.
    ///
    /// - Returns: whether a piece is wanted now.
    func answered(_ answer: PassThroughAnswer, by sender: any PassThroughSender) -> Bool
    /// Something else than a plain answer came, or will: the request goes on as an ordinary one from where it stands.
    ///
    /// - Returns: nil where no ordinary request can be made of it; the receiver has ended it then.
    func promoted(_ sending: any Sending, _ reason: PromotionReason) -> (OutboundRequest, any AnswerReceiver)?
}

/// A kept connection that was taken for a request.
package protocol PassThroughSender: PieceSender {
    /// The address that was dialled, with port.
    var address: String { get }
    /// Sends a whole request, of which nothing is kept but what the socket does not take now.
    ///
    /// `kind` is one of the policy's, and `now` in monotonic nanoseconds.
    func begin(
        _ bytes: UnsafeRawBufferPointer,
        _ receiver: any PassThroughReceiver,
        _ policy: PassThroughPolicy,
        _ kind: UInt8,
        now: Int64
    )
    /// Ends the request that is begun next, from any thread; it is promoted first.
    var sending: any Sending { get }
    /// The connection was not used.
    func putBack()
    /// The request goes on as an ordinary one.
    func promote(_ reason: PromotionReason)
    #if DEBUG
    /// The bytes that the ordinary path would have sent.
    func composed(_ request: OutboundRequest) -> [UInt8]
    /// The answer that the ordinary path would have read; nil where its parser takes none.
    func inbound(
        _ bytes: Span<UInt8>,
        to request: OutboundRequest,
        _ answer: PassThroughAnswer
    ) -> InboundResponse?
    #endif
}

/// The kept connections to one upstream.
package protocol PassThroughUpstream: AnyObject {
    /// `Host: example.com` with its line end.
    var hostLine: [UInt8] { get }
    /// Whether its pool was closed, and another has to be asked for.
    var isOver: Bool { get }
    func take(now: Int64) -> (any PassThroughSender)?
}

/// A transport that can pass requests through.
package protocol PassThroughTransport: AnyObject {
    func passThroughUpstream(for upstream: Upstream) -> any PassThroughUpstream
}
