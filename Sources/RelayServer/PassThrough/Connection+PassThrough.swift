import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

extension Connection: PassThroughCaller {
    var keepsContent: Bool { false }
    var mayBeBrowser: Bool { !listener.isUnix }
    var pieces: (any PieceReceiver)? { self }

    @inline(__always)
    func means(_ line: PassThroughLine) -> Bool { true }

    /// Whether its caller may send to the route in this way; asked once for as long as it sends to the same.
    @inline(__always)
    func maySend(to entry: PassThrough.Entry) -> Bool {
        if passThroughEntry === entry { return true }
        guard listener.role.includes(.submit), entry.route.allows(client) else {
            return false
        }
        passThroughEntry = entry
        return true
    }

    /// Its request is about to be sent.
    @inline(__always)
    func begunPassing(_ exchange: UnsafeMutablePointer<PassThroughExchange>, _ sender: any PassThroughSender)
    {
        unsafe passing = exchange
        passingSender = sender
        wasUsed = true
        keepsAlive = true
        phase = .busy
        clearDeadline()
    }

    var takesPlainAnswer: Bool { keepsAlive && !server.isDraining && phase == .busy }

    func hasMemory(for bytes: Int) -> Bool {
        guard bytes > MemoryAccount.free, let exchange = passing else { return true }
        let reservation = server.memory.reserve(bytes)
        reservation?.charge(to: share)
        unsafe exchange.pointee.answerReservation = reservation
        return reservation != nil
    }

    func answered(_ answer: PassThroughAnswer, by sender: any PassThroughSender) -> Bool {
        guard let exchange = passing else { return false }
        passingSender = nil
        if !answer.isWhole {
            passage = Passage(sender: sender, isChunked: answer.isChunked)
            unsafe streamBegins(exchange, answer)
        }
        let passThrough = server.passThrough
        unsafe passThrough.answer(exchange, answer, sender, self)
        #if DEBUG
        if passThrough.mode == .check {
            unsafe checkAnswer(exchange, answer, passThrough.output.bytes, answer.lent, sender)
        }
        #endif
        let bytes = unsafe passThrough.output.bytes
        if answer.isLent {
            unsafe sendLent(bytes, answer.lent)
            return phase == .busy && unsent.isEmpty && !answer.isWhole
        }
        let sent = unsafe Socket.send(descriptor, bytes)
        if case .bytes(bytes.count) = sent {
            guard answer.isWhole else { return true }
            passing = nil
            unsafe passThrough.over(exchange, share)
            phase = .idle
            setDeadline(nanoseconds: server.idleNanoseconds)
            if !pending.isEmpty { consumePending() }
            if mayRead, phase == .idle || phase == .head { receive() }
            return false
        }
        unsafe sendRemainder(bytes, sent)
        return phase == .busy && unsent.isEmpty && !answer.isWhole
    }

    @inline(never)
    private func streamBegins(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer
    ) {
        let route = unsafe exchange.pointee.entry.route
        guard route.snapshot.settings.callers.isEnabled else { return }
        let caller = client.map { FairQueue.Caller.user($0.user) } ?? .unknown
        streamBegins(route.entry.state, to: caller, isEndless: answer.isEventStream)
    }

    /// The socket has not taken all of it: the permit is held until it has.
    @inline(never)
    private func sendRemainder(_ bytes: UnsafeRawBufferPointer, _ sent: Written) {
        var offset = 0
        if case .bytes(let count) = sent { offset = count }
        let remainder = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
        unsafe send(Span(_unsafeElements: remainder.assumingMemoryBound(to: UInt8.self)))
        if phase == .busy, unsent.isEmpty, passage == nil { passingIsOver() }
    }

    /// Sends a head, and large content from where it stands.
    @inline(never)
    private func sendLent(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) {
        let head = unsafe Span<UInt8>(_unsafeElements: head.assumingMemoryBound(to: UInt8.self))
        let body = unsafe Span<UInt8>(_unsafeElements: body.assumingMemoryBound(to: UInt8.self))
        let taken = send(head, lent: body)
        send(body.extracting(taken...))
        if phase == .busy, unsent.isEmpty, passage == nil { passingIsOver() }
    }

    /// The whole answer is out, or the connection has closed.
    func passingIsOver() {
        guard let exchange = passing else { return }
        passing = nil
        unsafe server.passThrough.over(exchange, share)
        streamEnds()
        guard phase == .busy else { return }
        isOver()
    }

    /// Its request goes on as an ordinary one, where it is not answered yet.
    func promotePassing() { passingSender?.promote(.caller) }
}

// The ordinary request that is made of one that was sent.
extension Connection {
    func promoted(
        _ sending: any RelayRoute.Sending,
        _ reason: PromotionReason
    ) -> (OutboundRequest, any AnswerReceiver)? {
        guard let exchange = passing else { return nil }
        let route = unsafe exchange.pointee.entry.route
        route.entry.memory.meter.promoted(reason, shard: server.relay.ports.shard)
        passingSender = nil
        passing = nil
        guard let (head, adopted) = unsafe rebuilt(exchange, unsafe exchange.pointee.grant, sending) else {
            unsafe server.passThrough.broke(exchange, self)
            refuse(PassThrough.broken)
            return nil
        }
        let request = ServerRequest(head, relaying: adopted.admission, began: loop.now)
        if case .bytes(let content) = adopted.body {
            request.received = UInt64(content.count)
            var decoded: [UInt8] = []
            _ = try? request.decoder.decode(content.span, into: &decoded)
        }
        unsafe request.attach(exchange.pointee.reservation)
        request.run = unsafe server.passThrough.handOver(exchange, adopted, reason)
        self.request = request
        return (adopted.outbound, self)
    }

    /// The request as the ordinary path would have it by now; nil where it would have refused it.
    func rebuilt(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ grant: AttemptGrant?,
        _ sending: any RelayRoute.Sending
    ) -> (head: RequestHead, adopted: PassThrough.Adopted)? {
        let bytes = unsafe Span(_unsafeStart: exchange.pointee.bytes, count: exchange.pointee.count)
        var parser = RequestHeadParser()
        guard case .head(let head, let consumed)? = try? parser.parse(bytes),
            let terms = try? RequestTerms(head.fields.removingHopByHop()),
            let target = try? RelayTarget.parse(head.target)
        else { return nil }
        let content = bytes.copied(from: consumed)
        let wish = PassThrough.Wish(
            method: head.method,
            target: target.remainder,
            terms: terms,
            body: content.isEmpty ? .empty : .bytes(content)
        )
        let adopted = unsafe server.passThrough.adopted(exchange, wish, self, grant, sending)
        return adopted.map { (head, $0) }
    }
}
