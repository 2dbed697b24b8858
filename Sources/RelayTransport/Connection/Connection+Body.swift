import RelayBase
import RelayHTTP
import RelayPosix

extension Connection {
    /// The next piece of the body of the request with that serial, and whether nothing comes after it.
    ///
    /// Not to be called after the last piece: the connection may then serve another request.
    func nextPiece(_ serial: UInt64) async throws(Failure) -> (piece: [UInt8]?, isLast: Bool) {
        pool.collectsAnswers = true
        // Until now its reader has made the peer wait.
        lastProgress = loop.now
        while true {
            guard self.serial == serial, phase == .reading else {
                throw body.fault ?? Failure(.cancelled, sent: .unknown, "the response body was given up")
            }
            switch read() {
            case .piece(let piece): return (piece, self.serial != serial)
            case .nothingYet:
                await withTaskCancellationHandler {
                    unsafe await withUnsafeContinuation { continuation in
                        if Task.isCancelled { return unsafe continuation.resume() }
                        unsafe body.await(continuation)
                        lastProgress = loop.now
                        arm()
                    }
                } onCancel: { [box = LoopBound(self, loop), loop] in
                    if let connection = box.valueOnLoop {
                        connection.cancel(serial)
                    } else {
                        loop.execute { box.value.cancel(serial) }
                    }
                }
                if Task.isCancelled, self.serial == serial { cancel(serial) }
            case .over: return (nil, true)
            case .failed: break
            }
        }
    }

    enum Step {
        case piece([UInt8])
        case nothingYet
        case over
        /// The fault is in `body`.
        case failed
    }

    private func read() -> Step {
        if !body.leftover.isEmpty { return .piece(body.takeLeftover()) }
        while isReadable {
            let step = body.isChunked ? readChunks() : readStraight()
            if let step { return step }
        }
        return .nothingYet
    }

    /// Reads into the piece itself: no framing stands between the bytes.
    private func readStraight() -> Step? {
        var result = WireRead.wouldBlock
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: body.wanted) { buffer, count in
            unsafe result = receive(into: UnsafeMutableRawBufferPointer(buffer))
            if case .bytes(let received) = result { count = received }
        }
        guard case .bytes(let count) = result else { return readOutcome(result) }
        body.took(count)
        body.adapt(count)
        if hasContentMoved(count), !body.isComplete {
            crawls()
            return .failed
        }
        if body.isComplete { release(keepsAlive: body.keepsAlive && upload == nil) }
        return .piece(piece)
    }

    /// Reads into the loop's buffer and copies what the chunks hold.
    private func readChunks() -> Step? {
        let result = unsafe receive(into: loop.scratch)
        guard case .bytes(let count) = result else { return readOutcome(result) }
        lastProgress = loop.now
        let arrived = unsafe UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
        var piece: [UInt8] = []
        do throws(HTTPParseError) {
            let consumed = unsafe try body.takeAll(
                arrived.assumingMemoryBound(to: UInt8.self).span,
                into: &piece
            )
            if body.isComplete {
                // Bytes behind the answer were not asked for.
                release(keepsAlive: body.keepsAlive && consumed == count && upload == nil)
                return piece.isEmpty ? .over : .piece(piece)
            }
        } catch {
            fail(error, understoodHead: true)
            return .failed
        }
        return piece.isEmpty ? nil : .piece(piece)
    }

    func readOutcome(_ result: WireRead) -> Step? {
        switch result {
        case .bytes: return nil
        case .wouldBlock: return .nothingYet
        case .end:
            if body.ended() {
                release(keepsAlive: false)
                return .over
            }
            fail(
                .httpResponseIncomplete,
                "\(endpointText) closed the connection in the middle of the response body\(bodyProgress)",
                sent: .unknown
            )
            return .failed
        case .failed(let fault):
            fail(
                .httpResponseIncomplete,
                "the connection broke in the middle of the response body: \(endpointText): \(fault.detail)\(bodyProgress)",
                sent: .unknown
            )
            return .failed
        }
    }

    /// Gives up the rest of the body of the request with that serial.
    func abandon(_ serial: UInt64) {
        guard self.serial == serial else { return }
        let reader = unsafe body.takeWaiter()
        close()
        unsafe reader?.resume()
    }

    /// Bounds the whole rest of the body of the request with that serial.
    func bound(_ serial: UInt64, by deadline: Int64) {
        guard self.serial == serial, phase == .reading else { return }
        self.deadline = deadline
        arm()
    }
}
