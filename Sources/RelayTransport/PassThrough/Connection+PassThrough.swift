import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

extension Connection: PassThroughSender {
    var sending: any Sending { SentRequest(connection: self, serial: serial) }

    func putBack() {
        passThroughPool = nil
        pool.keep(self)
    }

    func begin(
        _ bytes: UnsafeRawBufferPointer,
        _ receiver: any PassThroughReceiver,
        _ policy: PassThroughPolicy,
        _ kind: UInt8,
        now: Int64
    ) {
        phase = .exchanging
        passing = Passing(receiver: receiver, policy: policy, kind: kind)
        hasWritten = false
        closesAfterAnswer = false
        interimCount = 0
        deadline = now &+ policy.attempt
        idleLimit = policy.idle
        lastProgress = now
        sentAt = now
        (headAt, awaited) = (0, 0)
        let written = unsafe write(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
        if case .bytes(bytes.count) = written {
            hasWritten = true
            return arm()
        }
        unsafe beginInPieces(bytes, written)
    }

    /// Sends the rest of a request that the socket did not take at once; what it still does not take makes the request
    /// an ordinary one.
    @inline(never)
    private func beginInPieces(_ bytes: UnsafeRawBufferPointer, _ written: WireWritten) {
        isBeginning = true
        defer { isBeginning = false }
        let start = serial
        var offset = 0
        if case .bytes(let count) = written, count > 0 {
            offset = count
            hasWritten = true
        }
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
        unsafe transmit(Span(_unsafeElements: rest.assumingMemoryBound(to: UInt8.self)), [])
        guard serial == start, phase == .exchanging else { return }
        if !output.isEmpty || writeFault != nil { promote(.written) }
        guard serial == start, phase == .exchanging else { return }
        arm()
        guard isReadable else { return }
        // The caller's bytes may still stand in the loop's buffer.
        loop.afterBatch { [self] in
            if serial == start { readHead() }
        }
    }

    /// Passes on an answer that is plain, by pieces where not all of it is there; any other makes the request an ordinary
    /// one.
    ///
    /// - Returns: whether it was passed on, or the rest of it is waited for.
    @inline(__always)
    func readPassing(_ bytes: UnsafeRawBufferPointer, _ passing: Passing) -> Bool {
        let receiver = passing.receiver
        guard let first = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), output.isEmpty,
            !peerFinished, receiver.takesPlainAnswer,
            var answer = unsafe PassThroughAnswer(reading: first, bytes.count, passing.policy, passing.kind),
            unsafe answer.isWhole || follows(&answer, bytes, passing)
        else {
            unsafe promotePassing(passing, whyNotPlain(bytes, passing))
            return false
        }
        if awaited > bytes.count { return true }
        guard passing.policy.takes(answer, passing.kind) else {
            unsafe promotePassing(passing, whyNotPlain(bytes, passing))
            return false
        }
        answer.firstByte = (headAt == 0 ? lastProgress : headAt) &- sentAt
        answer.wasReused = isReused
        self.passing = nil
        passThroughPool = nil
        if bringsLargeAnswers || answer.length > answer.body.count {
            expect(answersLike: UInt64(answer.length))
        }
        guard answer.isWhole else {
            passPieces(behind: answer, passing.policy.floor, to: receiver)
            return true
        }
        serial &+= 1
        phase = .idle
        isReused = true
        deadline = .max
        if let tls, pool.ticket == nil, pool.keepsTickets { pool.ticket = tls.ticket() }
        pool.keep(self)
        _ = receiver.answered(answer, by: self)
        return true
    }

    /// Finds out how far the content of an answer has come that is not known to be whole, and what becomes of the rest: it
    /// follows by pieces, or is waited for.
    ///
    /// - Returns: false where neither may be, or the content is broken.
    @inline(never)
    private func follows(
        _ answer: inout PassThroughAnswer,
        _ bytes: UnsafeRawBufferPointer,
        _ passing: Passing
    ) -> Bool {
        let takesPieces = passing.receiver.pieces != nil
        guard takesPieces || !answer.isChunked else { return false }
        var body = IncomingBody(answer.isChunked ? .chunked : .length(UInt64(answer.length)))
        let arrived = unsafe Span(
            _unsafeStart: answer.base + answer.body.lowerBound,
            count: answer.body.count
        )
        guard let (consumed, count) = try? body.measure(arrived), consumed == arrived.count else {
            return false
        }
        if answer.isChunked { answer.length = count }
        answer.isWhole = body.isComplete
        let length = answer.isChunked ? nil : answer.length
        guard answer.isWhole || takesPieces && passing.policy.passesPieces(answer.status, length: length)
        else {
            return unsafe gather(answer, bytes, passing)
        }
        body.keepsAlive = true
        self.body = body
        return true
    }

    /// The head is on its way, and so is what follows.
    @inline(never)
    private func passPieces(
        behind answer: PassThroughAnswer,
        _ floor: RateFloor,
        to receiver: any PassThroughReceiver
    ) {
        phase = .reading
        deadline = .max
        transfer = Transfer(floor)
        taker = receiver.pieces
        let isWanted = receiver.answered(answer, by: self)
        guard isWanted, phase == .reading else { return }
        awaitPiece()
        readPieces()
    }

    @inline(never)
    private func whyNotPlain(_ bytes: UnsafeRawBufferPointer, _ passing: Passing) -> PromotionReason {
        if !passing.receiver.takesPlainAnswer { return .draining }
        // `HTTP/1.1 503`
        let digits = unsafe bytes.dropFirst(9).prefix(3).reduce(0) { $0 &* 10 &+ Int($1 &- 0x30) }
        return bytes.count > 12 && !passing.policy.takes(digits, passing.kind) ? .status : .answer
    }

    /// The request goes on as an ordinary one, as if it had been one all the time.
    @inline(never)
    func promotePassing(_ passing: Passing, _ reason: PromotionReason) {
        self.passing = nil
        guard let pool = passThroughPool.take(),
            let (request, receiver) = passing.receiver.promoted(
                sending,
                reason
            )
        else { return close() }
        limits = request.limits
        method = request.method
        deadline = request.deadline.nanoseconds
        timeLimit = request.timeLimit
        idleName = request.timeouts.source ?? LimitName("timeouts.idle")
        idleLimit = max(0, request.timeouts.idleNanoseconds)
        transfer = Transfer(request)
        if !output.isEmpty { transfer?.begin(loop.now) }
        waiter = pool.waiter(receiver, request)
        if !headBytes.isEmpty { parseHead(takeGathered().span) }
    }

    @inline(__always)
    func promote(_ reason: PromotionReason) {
        if let passing { promotePassing(passing, reason) }
    }
}

#if DEBUG
// The bytes that the ordinary path would have sent, and the answer it would have read: `check` compares.
extension Connection {
    func composed(_ request: OutboundRequest) -> [UInt8] {
        pool.output.compose { output in
            let lent = compose(request, &output)
            return output.bytes + lent
        }
    }

    func inbound(
        _ bytes: Span<UInt8>,
        to request: OutboundRequest,
        _ answer: PassThroughAnswer
    ) -> InboundResponse? {
        var parser = ResponseHeadParser(limits: request.limits.forHead, requestMethod: request.method)
        guard case .head(let head, let consumed)? = try? parser.parse(bytes), head.keepsAlive,
            head.framing
                == (answer.isChunked ? .chunked : answer.hasContent ? .length(UInt64(answer.length)) : .none)
        else { return nil }
        var content: [UInt8] = []
        var body = IncomingBody(head.framing)
        guard let taken = try? body.takeAll(bytes.extracting(consumed..<bytes.count), into: &content),
            taken == bytes.count - consumed, body.isComplete == answer.isWhole
        else { return nil }
        var exchange = exchange(firstByte: sentAt &+ answer.firstByte)
        exchange.wasReused = answer.wasReused
        return InboundResponse(
            response: HTTPResponse(
                status: head.status,
                fields: head.fields,
                body: !answer.isWhole
                    ? .stream(Unread(length: body.length)) : content.isEmpty ? .empty : .bytes(content)
            ),
            exchange: exchange
        )
    }
}

/// Content that is still to come.
private final class Unread: BodySource {
    let length: UInt64?

    init(length: UInt64?) { self.length = length }

    var wasRead: Bool { false }

    func next() async throws(Failure) -> [UInt8]? { nil }
    func cancel() {}
}
#endif
