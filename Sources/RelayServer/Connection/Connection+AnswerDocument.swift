import RelayBase
import RelayJSON
import RelayRoute
import Synchronization

extension Connection {
    /// Sends a document piece by piece, each when the socket has taken what came before it.
    func send(_ document: AnswerDocument, _ framing: AnswerWriter.Framing) async {
        var document = document
        while let piece = document.next() {
            guard await drainOutput() else { return }
            send(piece, framing)
        }
    }
}
