package import RelayBase

/// The rest of an answer's content that needs no task: whoever takes it is told each piece as it comes.
///
/// Used from one thread, the one on which the pieces come.
package protocol PromptBody: BodySource {
    /// Hands the rest over; `receiver` is told of it once the sender is asked to go on.
    ///
    /// - Returns: nil where it is to be had by `next` alone: nothing was done.
    func handOver(to receiver: any PieceReceiver) -> (any PieceSender)?
    /// Lends what has come of it and was not read yet; `take` tells how many of the bytes are not wanted again.
    func lendArrived(_ take: (Span<UInt8>) -> Int)
}

/// The receiver of the rest of an answer's content, piece by piece.
package protocol PieceReceiver: AnyObject {
    /// The next piece, which is a loan; it may be empty where nothing comes after it.
    ///
    /// - Returns: whether another is wanted now; if not, the sender waits until it is asked to go on.
    func came(_ piece: UnsafeRawBufferPointer, isLast: Bool) -> Bool
    /// The descriptor of the socket that takes the bytes as they are; nil where they are framed anew, or others are still
    /// to go before.
    ///
    /// Bytes that the kernel moves there do not come as a piece.
    var outlet: Int32? { get }
    /// All of it has come from its sender: the next piece is the last.
    func isWhole()
    /// The rest will not come, for that reason.
    func brokeOff(_ failure: Failure)
}

/// The sender of the rest of an answer's content; after the last piece, or a break, it has nothing more to do with it.
package protocol PieceSender: AnyObject {
    /// Another piece is wanted.
    func goOn()
    /// Nobody wants the rest.
    func stop()
}
