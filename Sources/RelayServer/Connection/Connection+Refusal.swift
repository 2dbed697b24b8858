import RelayEngine
import RelayHTTP

/// A connection too many: its caller is heard for a moment, told why it has no place, and heard to the end.
extension Connection {
    /// It waits for the head of a request, to be told then.
    func awaitRefusal() {
        phase = .head
        setDeadline(server.limits.refusedHead)
        receive()
    }

    /// The place that it takes among the refused is another's: it ends now, and is told where it has not been.
    func endRefusal() {
        if phase == .head, let problem = server.refusal(of: self) { refuse(problem) }
        close()
    }
}
