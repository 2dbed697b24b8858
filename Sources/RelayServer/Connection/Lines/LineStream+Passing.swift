import RelayCore
import RelayEngine
import RelayPosix

// Lines that are passed through: what is plain has its outcome without a task, and in the turn of the loop it is answered.
extension LineStream {
    /// Has the line passed through, where it is plain.
    func pass(_ line: LineSplitter.Line) -> Bool {
        guard case .line(let bytes) = line else { return false }
        let passed = resting.popLast() ?? PassedLine(self)
        passed.position = underWay.count
        underWay.append(passed)
        if passed.begin(bytes) { return true }
        recycle(passed)
        return false
    }

    /// Counts a line that is about to be sent.
    ///
    /// - Returns: its number.
    func begunPassing() -> Int { order.began().index + 1 }

    func ticket(of line: Int) -> AnswerTicket { AnswerTicket(answerOrder, line - 1) }

    /// Whether the outcome of that line, which ends now, may go out now.
    func isNext(_ line: Int) -> Bool {
        connection.phase == .busy && !isWriting && connection.unsent.isEmpty && order.isNext(line - 1)
    }

    /// A line was answered.
    func answered(_ passed: PassedLine, _ line: Int, _ outcome: LineOutcome) {
        let start: Int
        switch outcome {
        case .written(let from): start = from
        case .document(let document): return ended(passed, line, document)
        }
        recycle(passed)
        order.endedInOrder(line - 1)
        let bytes = unsafe UnsafeRawBufferPointer(
            rebasing: connection.server.passThrough.output.bytes[start...]
        )
        unsafe connection.send(Span(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self)))
        answerOrder.left(line - 1)
        capacityFreed.take()?.resume()
        if order.isReady { writeSoon() }
        if order.isIdle, isWaiting { startIdleTime() }
    }

    /// A line has ended that did not go out at once.
    func ended(_ passed: PassedLine, _ line: Int, _ document: AnswerDocument?) {
        recycle(passed)
        order.ended(document, at: line - 1)
        writeSoon()
    }

    private func recycle(_ passed: PassedLine) {
        let last = underWay.removeLast()
        if last !== passed {
            last.position = passed.position
            underWay[passed.position] = last
        }
        resting.append(passed)
    }

    private func writeSoon() {
        guard !isWriting else { return }
        // The stream may have ended by then, and its connection must not be gone.
        let held = LoopBound((self, connection), connection.loop)
        connection.loop.spawn { await held.value.0.writeNow() }
    }

    private func writeNow() async {
        await write()
        if order.isIdle, isWaiting { startIdleTime() }
    }

    /// Waits until every line has had its outcome, and lets go of those that hold the stream.
    func passedLines() async {
        while !order.isIdle || isWriting { await withCheckedContinuation { capacityFreed = $0 } }
        resting = []
    }

    // MARK: The caller is gone

    /// The lines that are under way become ordinary.
    func promotePassed() { for line in underWay { line.promotePassing() } }

    func cancelPassed() { for line in underWay { line.cancel() } }
}
