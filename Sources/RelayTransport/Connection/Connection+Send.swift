import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

extension Connection {
    /// Bodies up to this many bytes are copied behind the head, so that one plain write sends both.
    private static let copiedBody = 16_384

    /// Begins a request whose outcome `waiter` is told.
    func begin(_ request: OutboundRequest, _ waiter: ExchangeWaiter) {
        phase = .exchanging
        self.waiter = waiter
        isBeginning = true
        defer { isBeginning = false }
        limits = request.limits
        method = request.method
        interimCount = 0
        hasWritten = false
        closesAfterAnswer = false
        writeFault = nil
        deadline = request.deadline.nanoseconds
        timeLimit = request.timeLimit
        idleName = request.timeouts.source ?? LimitName("timeouts.idle")
        idleLimit = max(0, request.timeouts.idleNanoseconds)
        lastProgress = loop.now
        sentAt = lastProgress
        headAt = 0
        // It may have waited for its connection.
        if let log = request.log, !log.maySend { return fail(.unsure) }
        let start = serial
        sendHead(request)
        guard serial == start, phase == .exchanging else { return }
        if case .stream(let source) = request.body { startUpload(source) }
        transfer = Transfer(request)
        if upload != nil || !output.isEmpty { transfer?.begin(loop.now) }
        arm()
        // Bytes that a fresh connection brought before it was asked will not be reported again.
        guard isReadable else { return }
        if case .receiver = waiter {
            // A receiver, which has no task, may still be reading from the loop's buffer.
            loop.afterBatch { [self] in
                if serial == start { readHead() }
            }
        } else {
            readHead()
        }
    }

    private func sendHead(_ request: OutboundRequest) {
        pool.output.compose { output in
            let lent = compose(request, &output)
            output.withSpan { transmit($0, lent) }
        }
    }

    /// The head, and a content that is copied behind it; another one is returned.
    func compose(_ request: OutboundRequest, _ output: inout OutputBuffer) -> [UInt8] {
        HeadWriter.appendRequestLine(request.method, request.target, to: &output)
        output.append(pool.hostLine)
        HeadWriter.appendFields(request.fields, to: &output) {
            isOurs($0, of: request.fields) || request.keepsTrace && isTrace($0, of: request.fields)
        }
        HeadWriter.appendFields(request.addedFields, to: &output) { isOurs($0, of: request.addedFields) }
        var lent: [UInt8] = []
        switch request.body {
        case .empty:
            if expectsBody(request.method) { output.append("Content-Length: 0\r\n") }
            HeadWriter.appendLineEnd(to: &output)
        case .bytes(let bytes):
            HeadWriter.appendContentLength(UInt64(bytes.count), to: &output)
            HeadWriter.appendLineEnd(to: &output)
            if bytes.count <= Self.copiedBody { output.append(bytes) } else { lent = bytes }
        case .stream(let source):
            if let length = source.length {
                HeadWriter.appendContentLength(length, to: &output)
            } else {
                output.append("Transfer-Encoding: chunked\r\n")
            }
            HeadWriter.appendLineEnd(to: &output)
        }
        return lent
    }

    /// Writes both runs as far as the socket takes them, and keeps the rest.
    func transmit(_ head: Span<UInt8>, _ lent: [UInt8]) {
        let total = head.count + lent.count
        var written = 0
        while written < total {
            let result = unsafe head.withUnsafeBytes { first in
                unsafe lent.withUnsafeBytes { second in
                    let fromHead = min(written, first.count)
                    return unsafe write(
                        UnsafeRawBufferPointer(rebasing: first[fromHead...]),
                        UnsafeRawBufferPointer(rebasing: second[(written - fromHead)...])
                    )
                }
            }
            switch result {
            case .bytes(let count):
                written += count
                hasWritten = true
            case .wouldBlock:
                // The head is a loan: what is left of it is copied.
                return keep(head, lent, written)
            case .failed(let fault): return writeFailed(fault)
            }
        }
    }

    private func keep(_ head: Span<UInt8>, _ lent: [UInt8], _ written: Int) {
        let fromHead = min(written, head.count)
        let rest = unsafe head.extracting(fromHead...).withUnsafeBufferPointer { unsafe Array($0) }
        output.set(head: rest, body: lent, skipping: 0)
        output.advance(written - fromHead)
        // A body that is sent whole is held by whose it is.
        output.reservation = pool.reservation(for: rest.count + (upload == nil ? 0 : lent.count))
        loop.watch(self, for: [.stream, .writable])
    }

    /// Goes on writing what was kept.
    func flush() {
        while !output.isEmpty {
            switch unsafe output.withRemainder({ unsafe write($0, $1) }) {
            case .bytes(let count):
                output.advance(count)
                hasWritten = true
                if hasPeerMoved(count) {
                    return fail(.connectionWriteTimeout, "\(endpointText) took the request at \(paceText)")
                }
            case .wouldBlock: return
            case .failed(let fault): return writeFailed(fault)
            }
        }
        loop.watch(self, for: interest)
        if upload == nil { contentIsOut() }
        resumeUpload()
    }

    /// A peer that will not read may have said why: its answer counts more than the broken write.
    private func writeFailed(_ fault: WireFault) {
        output = PendingOutput()
        writeFault = fault
        if !hasWritten, isReused {
            close()
            return tell(.stale)
        }
        guard hasWritten || tls != nil else { return fail(fault) }
        stopUpload()
        isReadable = true
        switch phase {
        case .exchanging:
            if isBeginning, case .receiver? = waiter { return }
            if isBeginning, passing != nil { return }
            readHead()
        case .reading: wakeReader()
        default: break
        }
    }

    private func isOurs(_ entry: HeaderFields.Entry, of fields: HeaderFields) -> Bool {
        switch entry.nameCount {
        case 4: fields.matches(entry, .host)
        case 10: fields.matches(entry, .connection)
        case 14: fields.matches(entry, .contentLength)
        case 17: fields.matches(entry, .transferEncoding)
        default: false
        }
    }

    private func isTrace(_ entry: HeaderFields.Entry, of fields: HeaderFields) -> Bool {
        switch entry.nameCount {
        case 7: fields.matches(entry, .baggage)
        case 10: fields.matches(entry, .tracestate)
        case 11: fields.matches(entry, .traceparent)
        default: false
        }
    }

    /// Whether a request without a body says so (RFC 9110 §8.6).
    private func expectsBody(_ method: Method) -> Bool {
        method == .post || method == .put || method == .patch
    }
}

extension ResponseLimits {
    var forHead: HTTPLimits {
        var limits = HTTPLimits()
        limits.head = head
        limits.fieldCount = fieldCount
        return limits
    }
}
