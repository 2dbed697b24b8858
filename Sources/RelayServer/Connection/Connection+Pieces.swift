import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

/// The rest of an answer that goes to its caller as it comes from its upstream, without a task.
@safe struct Passage {
    /// Nil once all of it has come.
    var sender: (any PieceSender)?
    let isChunked: Bool
    /// The task that waits for its end; nil for a request that has no task.
    var waiter: CheckedContinuation<Bool, Never>?
}

// The bytes that the caller's socket does not take are kept; until it has taken them all no more are asked for.
extension Connection: PieceReceiver {
    /// Begins to pass on what follows a head that is out.
    ///
    /// - Returns: false where that needs a task: nothing was done.
    func passPieces(
        of streaming: Streaming,
        waiter: CheckedContinuation<Bool, Never>? = nil
    ) -> Bool {
        guard phase == .busy, let sender = streaming.prompt?.handOver(to: self) else { return false }
        passage = Passage(sender: sender, isChunked: streaming.framing == .chunked, waiter: waiter)
        if unsent.isEmpty { sender.goOn() }
        return true
    }

    var outlet: Int32? {
        phase == .busy && unsent.isEmpty && passage?.isChunked == false ? descriptor : nil
    }

    func came(_ piece: UnsafeRawBufferPointer, isLast: Bool) -> Bool {
        guard phase == .busy, let isChunked = passage?.isChunked else { return false }
        if isLast { passage?.sender = nil }
        let bytes = unsafe Span<UInt8>(_unsafeElements: piece.assumingMemoryBound(to: UInt8.self))
        if isChunked {
            server.output.compose { output in
                if !bytes.isEmpty {
                    HeadWriter.appendChunkHeader(bytes.count, to: &output)
                    output.append(bytes)
                    HeadWriter.appendLineEnd(to: &output)
                }
                if isLast { HeadWriter.appendLastChunk(to: &output) }
                output.withSpan { send($0) }
            }
        } else {
            send(bytes)
        }
        guard phase == .busy, unsent.isEmpty else { return false }
        if isLast { passageIsOver() }
        return !isLast
    }

    func isWhole() { answerEnded(.whole) }

    func brokeOff(_ failure: Failure) {
        passage?.sender = nil
        answerEnded(.broke(failure))
        abort()
    }

    /// The content of the answer that is passed on has come to its end.
    func answerEnded(_ end: AnswerEnd) {
        if let exchange = passing {
            unsafe server.passThrough.answerEnded(exchange, end)
        } else {
            request?.run?.answerEnded(end)
        }
    }

    /// The socket has taken all there was.
    func goOnPassing() {
        if let sender = passage?.sender { sender.goOn() } else { passageIsOver() }
    }

    /// The whole answer is with its caller.
    private func passageIsOver() {
        guard let passage = passage.take() else { return }
        if let waiter = passage.waiter { return waiter.resume(returning: true) }
        if unsafe passing != nil { return passingIsOver() }
        isPassed()
    }

    /// The connection has closed: nobody wants the rest.
    func endPassage() {
        guard let passage = passage.take() else { return }
        answerEnded(.unwanted)
        passage.sender?.stop()
        passage.waiter?.resume(returning: true)
        if passage.waiter == nil { request?.run?.letGo() }
    }
}
