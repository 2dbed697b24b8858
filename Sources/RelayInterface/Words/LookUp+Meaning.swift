import RelayBase

extension LookUp {
    /// The upstream's word when it is asked about a request (`verify`) or an operation (`follow`).
    package var meaning: String {
        switch self {
        case .found:
            """
            The upstream has carried the request out, as found of verify says.
            Do: No action is needed; the request counts as a success.
            """
        case .absent:
            """
            The upstream has not carried the request out, as absent of verify says, so that it may be sent again.
            Do: No action is needed; the route's rules go on.
            """
        case .unclear:
            """
            The upstream did not say whether it has carried the request out, or could not be asked (verify).
            Causes: An upstream that is down; an answer that found and absent of verify do not know; a value of the \
            question that the request does not have.
            Do: See the attempts; ask the upstream before the request is sent again.
            """
        case .running:
            """
            The operation that the upstream has begun goes on (follow).
            Do: Wait; it is looked at again.
            """
        case .done:
            """
            The operation has come to its end, of which a failure kept the result away (follow).
            Do: See the attempts; the upstream has done its part.
            """
        case .failed:
            """
            The operation that the upstream has begun has failed (follow).
            Do: See the answer of the upstream for why; send the request again where that helps.
            """
        case .gone:
            """
            The upstream does not know the operation any more (follow).
            Causes: It keeps operations for a shorter time than they take; it was started anew.
            Do: Ask the upstream what became of it before the request is sent again.
            """
        case .unanswered:
            """
            The upstream did not say how the operation is, or could not be asked (follow).
            Do: Wait; it is looked at again.
            """
        case .told:
            """
            The job was cancelled, and the upstream has taken the request to stop its operation (follow.cancel).
            Do: No action is needed; the upstream decides what becomes of it.
            """
        case .untold:
            """
            The job was cancelled, and the upstream did not take the request to stop its operation (follow.cancel).
            Causes: An upstream that is down; an operation that is over, or that cannot be stopped.
            Do: Stop the operation at the upstream; it is not told again.
            """
        }
    }
}
