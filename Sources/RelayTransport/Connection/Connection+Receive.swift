import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

extension Connection {
    /// Interim answers passed over before the upstream is taken to be stalling.
    private static let maxInterim = 10
    /// Bytes of the first read of an answer that is expected to be large: what follows those is moved, not copied.
    private static let firstRead = 8_192
    /// Bytes of an answer's content that is large.
    private static let largeAnswer: UInt64 = 65_536

    /// Reads as much of the answer's head, and of a body that comes with it, as has arrived.
    func readHead() {
        while phase == .exchanging, isReadable {
            let scratch = unsafe loop.scratch
            let room = readsLittleFirst ? Self.firstRead : scratch.count
            switch unsafe receive(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<room])) {
            case .bytes(let count):
                if headAt != 0, hasPeerMoved(count) {
                    promote(.timeout)
                    if phase == .reading { crawls() }
                    return
                }
                lastProgress = loop.now
                let arrived = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<count])
                if headBytes.isEmpty {
                    if unsafe take(arrived) { return }
                } else if let gathered = unsafe gather(more: arrived) {
                    if unsafe gathered.withUnsafeBytes({ unsafe take($0) }) { return }
                }
            case .wouldBlock: return
            case .end:
                promote(.closed)
                if phase == .exchanging { endedInHead() } else { breakOff(.end) }
                return
            case .failed(let fault):
                promote(.closed)
                // An alert says why the write broke.
                let told = fault.kind == .tlsAlertReceived ? fault : writeFault ?? fault
                if phase == .exchanging { fail(told) } else { breakOff(.failed(told)) }
                return
            }
        }
    }

    /// Reads what has come of the answer.
    ///
    /// - Returns: whether nothing more is to be read for its head.
    @inline(__always)
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let passing {
            if unsafe readPassing(bytes, passing) { return phase != .exchanging }
            guard phase == .exchanging else { return true }
        }
        unsafe parseHead(bytes.assumingMemoryBound(to: UInt8.self).span)
        return false
    }

    /// The content of an answer breaks off whose reader may not have begun.
    private func breakOff(_ result: WireRead) {
        if phase == .reading { _ = readOutcome(result) }
    }

    private func endedInHead() {
        if let writeFault { return fail(writeFault) }
        if headBytes.isEmpty, interimCount == 0 {
            fail(.connectionTerminated, "\(endpointText) closed the connection without an answer")
        } else {
            fail(
                .httpResponseIncomplete,
                "\(endpointText) closed the connection in the middle of the response head"
            )
        }
    }

    func parseHead(_ bytes: Span<UInt8>) {
        var parser =
            parser.take()?.parser ?? ResponseHeadParser(limits: limits.forHead, requestMethod: method)
        var start = 0
        while true {
            let rest = bytes.extracting(start..<bytes.count)
            do throws(HTTPParseError) {
                switch try parser.parse(rest) {
                case .needsMore:
                    self.parser = HeldParser(parser)
                    unsafe rest.withUnsafeBufferPointer { unsafe headBytes.append(contentsOf: $0) }
                    return
                case .head(let head, let consumed):
                    start += consumed
                    guard head.isInterim else {
                        return headArrived(head, bytes.extracting(start..<bytes.count))
                    }
                    interimCount += 1
                    guard interimCount <= Self.maxInterim else {
                        return fail(
                            .httpProtocolError,
                            "\(endpointText) sent more than \(Self.maxInterim) interim answers"
                        )
                    }
                }
            } catch {
                let first = headBytes.first ?? (bytes.isEmpty ? 0 : bytes[0])
                return fail(error, understoodHead: false, isTLS: tls == nil && tlsRecords.contains(first))
            }
        }
    }

    /// Whether little is read first of what is awaited: never for who takes it only as a whole.
    private var readsLittleFirst: Bool {
        bringsLargeAnswers && headBytes.isEmpty && passing.map { $0.receiver.pieces != nil } ?? true
    }

    /// The answer to come is taken to be like the last.
    func expect(answersLike length: UInt64?) {
        bringsLargeAnswers = length ?? 0 > Self.largeAnswer && !pool.collectsAnswers
    }

    private func headArrived(_ head: ResponseHead, _ rest: Span<UInt8>) {
        // An error that comes before the whole request was read means that nobody reads on (RFC 9112 §9.3).
        if head.status.rawValue >= 300, upload != nil || !output.isEmpty {
            stopUpload()
            output = PendingOutput()
            closesAfterAnswer = true
        }
        let exchange = exchange(firstByte: headAt == 0 ? loop.now : headAt)
        body = IncomingBody(head.framing)
        expect(answersLike: body.length)
        body.keepsAlive = head.keepsAlive && !closesAfterAnswer
        var response = HTTPResponse(status: head.status, fields: head.fields)
        do throws(HTTPParseError) {
            var content: [UInt8] = []
            let consumed = try body.takeAll(rest, into: &content)
            if body.isComplete {
                // Bytes behind the answer were not asked for.
                let isClean = consumed == rest.count && upload == nil
                response.body = content.isEmpty ? .empty : .bytes(content)
                finish(response, exchange, keepsAlive: body.keepsAlive && isClean)
            } else {
                body.keep(content, in: pool.reservation(for: content.count))
                stream(response, exchange)
            }
        } catch {
            fail(error, understoodHead: true)
        }
    }

    /// Delivers an answer that is here as a whole.
    private func finish(_ response: HTTPResponse, _ exchange: Exchange, keepsAlive: Bool) {
        let decodes = limits.decodesContent
        let limits = limits
        release(keepsAlive: keepsAlive)
        guard decodes else {
            return tell(.answer(InboundResponse(response: response, exchange: exchange)))
        }
        do throws(Failure) {
            let decoded = try ContentDecoding.decoded(response, limits, pool.reservation)
            tell(.answer(InboundResponse(response: decoded, exchange: exchange)))
        } catch {
            var failure = error
            failure.exchange = exchange
            tell(.failure(failure))
        }
    }

    /// Delivers the head of an answer whose body is still arriving.
    private func stream(_ response: HTTPResponse, _ exchange: Exchange) {
        phase = .reading
        deadline = .max
        if let end = transfer?.end { timeLimit = end.limit }
        var response = response
        let source = ResponseBody(LoopBound(self, loop), loop, serial: serial, length: body.length)
        response.body = .stream(source)
        if limits.decodesContent { response = ContentDecoding.decoding(response, limits, pool.reservation) }
        tell(.answer(InboundResponse(response: response, exchange: exchange)))
    }
}

/// First bytes of an alert and of a handshake (RFC 8446, 5.1), with which no answer of HTTP begins.
private let tlsRecords: ClosedRange<UInt8> = 0x15...0x16
