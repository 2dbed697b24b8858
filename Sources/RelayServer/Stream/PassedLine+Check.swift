#if DEBUG
import RelayCore
import RelayEngine
import RelayHTTP

// Mode `check`: the request of a line and its outcome are also made by the ordinary classes, and compared.
extension PassedLine {
    func checkRequest(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ sent: UnsafeRawBufferPointer,
        _ sender: any PassThroughSender
    ) {
        let rebuilt = unsafe rebuiltForCheck(exchange)
        unsafe demandEqual(sent, sender.composed(rebuilt.outbound), "the request of a line")
    }

    /// `document` is the outcome that does not stand in the output.
    func checkOutcome(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ document: AnswerDocument?,
        _ sender: any PassThroughSender
    ) {
        let rebuilt = unsafe rebuiltForCheck(exchange)
        let server = stream.connection.server
        let bytes = unsafe Span(_unsafeStart: answer.base, count: answer.body.upperBound)
        guard let inbound = sender.inbound(bytes, to: rebuilt.outbound, answer),
            let outcome = server.relay.outcome(of: rebuilt.execution, inbound)
        else {
            fatalError("pass-through took an answer with status \(answer.status) that does not end a line")
        }
        var wanted = StreamOutcome.ended(outcome, rebuilt.job).whole
        if let document {
            let told = document.whole
            return unsafe told.withUnsafeBytes { unsafe demandEqual($0, wanted, "the outcome of a line") }
        }
        if stream.framing == .chunked {
            let digits = String(wanted.count, radix: 16)
            let head = String(repeating: "0", count: 6 - digits.count) + digits + "\r\n"
            wanted = Array(head.utf8) + wanted + [0x0D, 0x0A]
        }
        unsafe demandEqual(server.passThrough.output.bytes, wanted, "the outcome of a line")
    }

    private func rebuiltForCheck(_ exchange: UnsafeMutablePointer<PassThroughExchange>) -> Rebuilt {
        guard let rebuilt = unsafe rebuilt(exchange, nil, SendingNothing()),
            let submission = try? StreamedJob(bytes).submission.get(), let terms = try? submission.terms()
        else { fatalError("pass-through took a line that the ordinary path refuses") }
        let told = id.isEmpty ? nil : String(decoding: bytes[id], as: UTF8.self)
        guard !submission.hasEmptySegment, !terms.isLoop, !terms.wantsDurable,
            terms.durable.idempotencyKey == nil, terms.durable.priority == 3, rebuilt.job.id == told,
            unsafe Array(submission.route.utf8) == exchange.pointee.entry.route.name
        else { fatalError("pass-through took a line that needs more than to be passed on") }
        return rebuilt
    }
}

extension AnswerDocument {
    /// All of it.
    fileprivate var whole: [UInt8] {
        var (rest, bytes): (AnswerDocument, [UInt8]) = (self, [])
        while let piece = rest.next() { bytes += piece }
        return bytes
    }
}
#endif
