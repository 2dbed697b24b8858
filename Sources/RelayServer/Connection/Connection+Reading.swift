import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix

extension Connection {
    /// Bytes of the first read of a request that is expected to bring a large body: little of that has to be copied.
    private static let firstRead = 8_192
    /// Bytes of a body that is large.
    private static let largeBody: UInt64 = 65_536
    /// The most of a streamed body that is read at once.
    private static let pieceSize = 131_072

    /// Reads what is there as far as the phase wants it.
    func receive() {
        if phase == .lingering { return discardInput() }
        while mayRead, phase == .idle || phase == .head || phase == .body {
            if phase == .body, let request, let wanted = request.wanted {
                collect(request, wanted)
                continue
            }
            var scratch = unsafe loop.scratch
            if bringsLargeBodies, phase == .idle {
                unsafe scratch = UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.firstRead])
            }
            let received = unsafe Socket.receive(descriptor, into: scratch)
            guard let count = arrived(received, of: scratch.count) else { break }
            let bytes = unsafe Span(
                _unsafeElements: UnsafeRawBufferPointer(rebasing: scratch[..<count])
                    .assumingMemoryBound(to: UInt8.self)
            )
            take(bytes)
        }
        if phase == .busy, mayRead || peerFinished { arrived.take()?.resume(returning: true) }
    }

    /// Takes note of what came of a read into so much room.
    ///
    /// - Returns: how many bytes have come; nil where nothing is to be read any more.
    @inline(__always)
    private func arrived(_ received: Received, of room: Int) -> Int? {
        switch received {
        case .bytes(let count):
            // A read that did not fill the buffer took all there was, but for the end, which is reported once.
            if count < room, !peerFinished { mayRead = false }
            return count
        case .wouldBlock: mayRead = false
        case .failed: abort()
        case .end:
            mayRead = false
            // Nothing can complete any more; a request under way is still answered.
            if phase == .idle {
                close()
            } else {
                refuse(Problem(.badRequest, "the connection ended inside a request"))
            }
        }
        return nil
    }

    /// Reads more of a body straight to where it is held.
    private func collect(_ request: ServerRequest, _ wanted: Int) {
        let received = Socket.receive(descriptor, behind: &request.collected, most: wanted)
        guard let count = arrived(received, of: wanted) else { return }
        _ = request.decoder.take(count)
        goOn(collecting: request)
    }

    private func take(_ bytes: Span<UInt8>) {
        if phase == .idle, pending.isEmpty {
            let isPassed = unsafe bytes.withUnsafeBufferPointer { bytes in
                guard let first = bytes.baseAddress else { return false }
                return unsafe server.passThrough.begin(self, on: self, first, bytes.count)
            }
            if isPassed {
                bringsLargeBodies = false
                return
            }
        }
        if pending.isEmpty {
            let used = consume(bytes)
            // Bytes that were not used outlive the scratch buffer.
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
            countUnreadRefusal(Problem(error))
            refuse(Problem(error))
            return bytes.count
        }
        switch result {
        case .needsMore:
            self.parser = HeldParser(parser)
            // One without a place has been in it from its beginning.
            if phase == .idle {
                phase = .head
                setDeadline(server.limits.head)
            }
            return 0
        case .head(let head, let consumed):
            if slot == nil {
                refuse(AcceptWatcher.noSlot)
                return bytes.count
            }
            wasUsed = true
            clearDeadline()
            keepsAlive = head.keepsAlive && !server.isDraining
            let request = begin(head).flatMap(withMemory)
            guard phase != .closed, let request else { return phase == .idle ? consumed : bytes.count }
            self.request = request
            bringsLargeBodies = request.length ?? 0 > Self.largeBody
            phase = .body
            if head.framing.isEmpty || request.isLineStream {
                if request.isLineStream, head.expectsContinue { sendContinue() }
                start(request, .empty)
                return consumed
            }
            let used = consumed < bytes.count ? consumeBody(bytes.extracting(consumed..<bytes.count)) : 0
            guard phase == .body else { return consumed + used }
            if request.time == nil { awaitBody(request) }
            if head.expectsContinue, used == 0 { sendContinue() }
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
        guard let request else { return 0 }
        if let wanted = request.wanted, wanted > bytes.count { request.collected.reserveCapacity(wanted) }
        let used: Int
        do throws(HTTPParseError) {
            used = try request.decoder.decode(bytes, into: &request.collected).consumed
        } catch {
            countRefusal(Problem(error), of: request.head)
            refuse(Problem(error))
            return bytes.count
        }
        return goOn(collecting: request) ? used : bytes.count
    }

    /// Goes on with a body of which more is collected now.
    ///
    /// - Returns: false when it was refused.
    @discardableResult
    private func goOn(collecting request: ServerRequest) -> Bool {
        if request.collected.count > request.limit {
            countRefusal(request.tooLarge, of: request.head)
            refuse(request.tooLarge)
            return false
        }
        let before = request.received
        request.received = UInt64(request.collected.count)
        if request.decoder.isComplete {
            request.isWhole()
            start(request, .bytes(request.collected))
        } else if request.hasBegun {
            start(request, .stream(source(of: request)))
        } else {
            do throws(Problem) {
                try request.time?.came(Int(request.received - before), after: loop.now &- request.lastCame)
            } catch {
                refuseSlow(error)
                return false
            }
            awaitBody(request)
        }
        return true
    }

    /// More of a body that is collected has to come.
    private func awaitBody(_ request: ServerRequest) {
        let time = bodyTime
        (request.time, request.lastCame) = (time, loop.now)
        setDeadline(nanoseconds: time.wait(loop.now))
    }

    /// How long the body at hand may take.
    var bodyTime: BodyTime {
        guard let request else { preconditionFailure("a body is awaited that nobody has announced") }
        return request.time ?? BodyTime(request.purpose, since: request.began, server.limits)
    }

    /// Ends the wait for a body that streams and does not come.
    ///
    /// - Returns: false where no such wait is under way.
    func endStalledUpload(_ now: Int64) -> Bool {
        guard let request, request.isAwaited, unsent.isEmpty else { return false }
        request.refusal = bodyTime.stalled(now)
        stopUpload()
        return true
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
        var waited: Int64 = 0
        while true {
            switch try uploadStep() {
            case .piece(let piece):
                try count(piece.count, after: waited)
                return piece
            case .end: return nil
            case .blocked: break
            }
            // Only the caller's own pauses count, not the time the upstream takes for a piece.
            let (start, request) = (loop.now, request)
            setDeadline(nanoseconds: bodyTime.wait(start))
            request?.isAwaited = true
            let isAlive = await withCheckedContinuation { arrived = $0 }
            request?.isAwaited = false
            guard isAlive else { throw request.flatMap(refused) ?? Connection.uploadBroke }
            waited &+= loop.now &- start
            if unsent.isEmpty { clearDeadline() } else { setDeadline(server.limits.writeStall) }
        }
    }

    /// Counts how fast a body comes that streams.
    private func count(_ bytes: Int, after wait: Int64) throws(Failure) {
        guard wait > 0, let request else { return }
        var time = bodyTime
        do throws(Problem) {
            try time.came(bytes, after: wait)
            request.time = time
        } catch {
            keepsAlive = false
            request.refusal = error
            throw refused(request) ?? Connection.uploadBroke
        }
    }

    /// The failure of the body's attempt where the relay refuses the rest of the body.
    private func refused(_ request: ServerRequest) -> Failure? {
        request.refusal.map { Failure(.httpRequestError, sent: .unknown, $0.detail) }
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
            guard phase == .busy, let request else { throw Connection.uploadBroke }
            if let piece = request.takeCollected() { return .piece(piece) }
            if request.decoder.isComplete { return .end }
            if !pending.isEmpty {
                let held = pending
                pending = []
                let used = try decode(held.span, request)
                if used < held.count { pending = Array(held[used...]) }
                continue
            }
            guard try readUpload(request) else { return .blocked }
        }
    }

    /// - Returns: false when there is nothing to read now.
    private func readUpload(_ request: ServerRequest) throws(Failure) -> Bool {
        guard mayRead else {
            if peerFinished { throw Connection.uploadBroke }
            return false
        }
        if let rest = request.decoder.remaining {
            // No framing stands between the bytes: they are read into the piece itself.
            let room = Int(min(rest, UInt64(Self.pieceSize)))
            let received = Socket.receive(descriptor, behind: &request.collected, most: room)
            guard let count = try arrivedOfStream(received, of: room) else {
                // While nothing comes no room stands ready for it.
                request.collected = []
                return false
            }
            _ = request.decoder.take(count)
            // A piece may be kept for long: what is little takes little.
            if count < room / 4 { request.collected = request.collected.span.copied(from: 0) }
            try self.count(request)
            return true
        }
        let scratch = unsafe loop.scratch
        let received = unsafe Socket.receive(descriptor, into: scratch)
        guard let count = try arrivedOfStream(received, of: scratch.count) else { return false }
        let bytes = unsafe Span(
            _unsafeElements: UnsafeRawBufferPointer(rebasing: scratch[..<count])
                .assumingMemoryBound(to: UInt8.self)
        )
        let used = try decode(bytes, request)
        if used < bytes.count { pending = bytes.copied(from: used) }
        return true
    }

    /// The same for a body that streams: its end is the reader's failure.
    private func arrivedOfStream(_ received: Received, of room: Int) throws(Failure) -> Int? {
        switch received {
        case .bytes(let count):
            if count < room { mayRead = false }
            return count
        case .wouldBlock:
            mayRead = false
            return nil
        case .failed, .end:
            keepsAlive = false
            throw Connection.uploadBroke
        }
    }

    private func decode(_ bytes: Span<UInt8>, _ request: ServerRequest) throws(Failure) -> Int {
        let used: Int
        do throws(HTTPParseError) {
            used = try request.decoder.decode(bytes, into: &request.collected).consumed
        } catch {
            keepsAlive = false
            request.refusal = Problem(error)
            throw Failure(
                .httpRequestError,
                sent: .unknown,
                "the request body is malformed: \(error.message)"
            )
        }
        try self.count(request)
        return used
    }

    /// Counts what has come of a streamed body.
    private func count(_ request: ServerRequest) throws(Failure) {
        request.received += UInt64(request.collected.count)
        guard request.received <= UInt64(request.limit) else {
            keepsAlive = false
            request.refusal = request.tooLarge
            recordRefusal(request.tooLarge, of: request.head)
            throw Failure(.httpRequestError, sent: .unknown, request.tooLarge.detail)
        }
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
