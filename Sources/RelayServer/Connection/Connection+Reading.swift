import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

extension Connection {
    /// Reads what is there as far as the phase wants it.
    func receive() {
        if phase == .lingering { return discardInput() }
        while mayRead, phase == .idle || phase == .head || phase == .body {
            let scratch = unsafe loop.scratch
            switch unsafe Socket.receive(descriptor, into: scratch) {
            case .wouldBlock: mayRead = false
            case .failed: return abort()
            case .end:
                mayRead = false
                // Nothing can complete any more; a request under way is still answered.
                if phase == .idle { return close() }
                return refuse(Problem(.badRequest, "the connection ended inside a request"))
            case .bytes(let count):
                // A read that did not fill the buffer took all there was, but for the end, which is reported once.
                if count < scratch.count, !peerFinished { mayRead = false }
                let bytes = unsafe Span(
                    _unsafeElements: UnsafeRawBufferPointer(rebasing: scratch[..<count])
                        .assumingMemoryBound(to: UInt8.self)
                )
                take(bytes)
            }
        }
        if phase == .busy, mayRead || peerFinished { arrived.take()?.resume(returning: true) }
    }

    private func take(_ bytes: Span<UInt8>) {
        if phase == .idle, pending.isEmpty {
            let isPassed = unsafe bytes.withUnsafeBufferPointer { bytes in
                guard let first = bytes.baseAddress else { return false }
                return unsafe server.passThrough.begin(self, on: self, first, bytes.count)
            }
            if isPassed { return }
        }
        if pending.isEmpty {
            let used = consume(bytes)
            // Whatever was not used outlives the scratch buffer.
            if phase != .closed, used < bytes.count { pending = bytes.copied(from: used) }
        } else {
            bytes.append(to: &pending)
            consumePending()
        }
    }

    /// Goes on with bytes that arrived before they were wanted.
    func consumePending() {
        guard !pending.isEmpty else { return }
        let held = pending
        pending = []
        let used = consume(held.span)
        if phase != .closed, used < held.count { pending = used == 0 ? held : Array(held[used...]) }
    }

    /// Goes on until a request is with its task or more bytes are needed: one that was refused at once is followed by
    /// the next.
    ///
    /// - Returns: how many of the bytes were used.
    private func consume(_ bytes: Span<UInt8>) -> Int {
        var used = 0
        while used < bytes.count {
            let rest = bytes.extracting(used..<bytes.count)
            let step =
                switch phase {
                case .idle, .head: consumeHead(rest)
                case .body: consumeBody(rest)
                case .busy, .lingering, .closed: 0
                }
            guard step > 0 else { break }
            used += step
        }
        return used
    }

    private func consumeHead(_ bytes: Span<UInt8>) -> Int {
        var parser = self.parser.take()?.parser ?? RequestHeadParser()
        let result: HeadResult<RequestHead>
        do throws(HTTPParseError) {
            result = try parser.parse(bytes)
        } catch {
            refuse(Problem(error))
            return bytes.count
        }
        switch result {
        case .needsMore:
            self.parser = HeldParser(parser)
            if phase == .idle {
                phase = .head
                setDeadline(server.limits.head)
            }
            return 0
        case .head(let head, let consumed):
            wasUsed = true
            clearDeadline()
            keepsAlive = head.keepsAlive && !server.isDraining
            let upload = begin(head).flatMap(withRoom)
            guard phase != .closed, let upload else { return phase == .idle ? consumed : bytes.count }
            self.upload = upload
            phase = .body
            if head.framing.isEmpty || upload.isLineStream {
                if upload.isLineStream, head.expectsContinue { sendContinue() }
                start(upload, .empty)
                return consumed
            }
            setDeadline(server.limits.body)
            let used = consumed < bytes.count ? consumeBody(bytes.extracting(consumed..<bytes.count)) : 0
            if phase == .body, head.expectsContinue, used == 0 {
                sendContinue()
            }
            return consumed + used
        }
    }

    private func sendContinue() {
        server.output.compose { output in
            output.append("HTTP/1.1 100 Continue\r\n\r\n")
            output.withSpan { send($0) }
        }
    }

    /// Collects a body up to what may be held, then hands the request to its task.
    private func consumeBody(_ bytes: Span<UInt8>) -> Int {
        guard let upload else { return 0 }
        let used: Int
        do throws(HTTPParseError) {
            used = try upload.decoder.decode(bytes, into: &upload.collected).consumed
        } catch {
            refuse(Problem(error))
            return bytes.count
        }
        if upload.collected.count > upload.limit {
            tell(upload.tooLarge, of: upload.head)
            refuse(upload.tooLarge)
            return bytes.count
        }
        upload.received = UInt64(upload.collected.count)
        if upload.decoder.isComplete {
            upload.isWhole()
            start(upload, .bytes(upload.collected))
        } else if upload.streams,
            upload.collected.count > upload.holdLimit
                || upload.length ?? 0 > UInt64(upload.holdLimit)
        {
            start(upload, .stream(source(of: upload)))
        }
        return used
    }

    /// The attempt that reads a streamed body wants no more of it; another may.
    func pauseUpload() {
        if unsent.isEmpty { clearDeadline() }
        arrived.take()?.resume(returning: false)
    }

    /// Nobody reads the rest of a streamed body: whoever waits for it goes on, and the connection ends with the answer.
    func stopUpload() {
        keepsAlive = false
        pauseUpload()
    }

    /// The next piece of a streamed body, decoded; nil at its end.
    func nextUploadPiece() async throws(Failure) -> [UInt8]? {
        while true {
            switch try uploadStep() {
            case .piece(let piece): return piece
            case .end: return nil
            case .blocked: break
            }
            // Only the caller's own pauses count, not the time the upstream takes for a piece.
            setDeadline(server.limits.bodyPause)
            let isAlive = await withCheckedContinuation { arrived = $0 }
            guard isAlive else { throw Connection.uploadBroke }
            if unsent.isEmpty { clearDeadline() } else { setDeadline(server.limits.writeStall) }
        }
    }

    enum UploadStep {
        case piece([UInt8])
        case end
        /// More has to arrive first.
        case blocked
    }

    /// Goes on with a streamed body as far as that needs no waiting.
    func uploadStep() throws(Failure) -> UploadStep {
        while true {
            guard phase == .busy, let upload else { throw Connection.uploadBroke }
            if let piece = upload.takeCollected() { return .piece(piece) }
            if upload.decoder.isComplete { return .end }
            if !pending.isEmpty {
                let held = pending
                pending = []
                let used = try decode(held.span, upload)
                if used < held.count { pending = Array(held[used...]) }
                continue
            }
            guard try readUpload(upload) else { return .blocked }
        }
    }

    /// - Returns: false when there is nothing to read now.
    private func readUpload(_ upload: Upload) throws(Failure) -> Bool {
        guard mayRead else {
            if peerFinished { throw Connection.uploadBroke }
            return false
        }
        let scratch = unsafe loop.scratch
        switch unsafe Socket.receive(descriptor, into: scratch) {
        case .wouldBlock:
            mayRead = false
            return false
        case .failed, .end:
            keepsAlive = false
            throw Connection.uploadBroke
        case .bytes(let count):
            if count < scratch.count { mayRead = false }
            let bytes = unsafe Span(
                _unsafeElements: UnsafeRawBufferPointer(rebasing: scratch[..<count])
                    .assumingMemoryBound(to: UInt8.self)
            )
            let used = try decode(bytes, upload)
            if used < bytes.count { pending = bytes.copied(from: used) }
            return true
        }
    }

    private func decode(_ bytes: Span<UInt8>, _ upload: Upload) throws(Failure) -> Int {
        let used: Int
        do throws(HTTPParseError) {
            used = try upload.decoder.decode(bytes, into: &upload.collected).consumed
        } catch {
            keepsAlive = false
            upload.refusal = Problem(error)
            throw Failure(.clientGone, sent: .unknown, "the request body is malformed: \(error.message)")
        }
        upload.received += UInt64(upload.collected.count)
        guard upload.received <= UInt64(upload.limit) else {
            keepsAlive = false
            upload.refusal = upload.tooLarge
            tell(upload.tooLarge, of: upload.head)
            throw Failure(.clientGone, sent: .unknown, upload.tooLarge.detail)
        }
        return used
    }

    private static let uploadBroke = Failure(
        .clientGone,
        sent: .unknown,
        "the request body ended before it was complete"
    )
}

extension Span<UInt8> {
    func copied(from start: Int) -> [UInt8] {
        unsafe extracting(start..<count).withUnsafeBufferPointer { unsafe Array($0) }
    }

    func append(to bytes: inout [UInt8]) {
        unsafe withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }
}
