#if DEBUG
import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayRoute

// Mode `check`: the request of a line and its outcome are also made by the ordinary classes, and compared.
extension PassedLine {
    func checkRequest(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ sent: UnsafeRawBufferPointer,
        _ sender: any PassThroughSender
    ) {
        let rebuilt = unsafe rebuiltForCheck(exchange)
        unsafe demandEqual(sent, sender.composed(rebuilt.adopted.outbound), "the request of a line")
    }

    func checkOutcome(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ told: LineOutcome,
        _ sender: any PassThroughSender
    ) {
        let rebuilt = unsafe rebuiltForCheck(exchange)
        let server = stream.connection.server
        let bytes = unsafe Span(_unsafeStart: answer.base, count: answer.body.upperBound)
        guard let inbound = sender.inbound(bytes, to: rebuilt.adopted.outbound, answer),
            rebuilt.adopted.execution.ends(with: inbound)
        else {
            fatalError("pass-through took an answer with status \(answer.status) that does not end a line")
        }
        let wanted = StreamOutcome.ended(rebuilt.adopted.execution.outcome, rebuilt.job).whole
        switch told {
        case .document(let document):
            let whole = document.whole
            unsafe whole.withUnsafeBytes { unsafe demandEqual($0, wanted, "the outcome of a line") }
        case .written(let start):
            let isChunked = stream.framing == .chunked
            let framed =
                isChunked
                ? Array("\(String(wanted.count, radix: 16))\r\n".utf8) + wanted + [0x0D, 0x0A] : wanted
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: server.passThrough.output.bytes[start...])
            unsafe demandEqual(bytes, framed, "the outcome of a line")
        }
    }

    private func rebuiltForCheck(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>
    ) -> (job: AdmittedJob, adopted: PassThrough.Adopted) {
        guard let rebuilt = unsafe rebuilt(exchange, nil, SendingNothing()),
            let submission = try? StreamedJob(bytes).submission.get()
        else { fatalError("pass-through took a line that the ordinary path refuses") }
        let told = id.isEmpty ? nil : String(decoding: bytes[id], as: UTF8.self)
        guard !submission.hasEmptySegment, rebuilt.adopted.wish.isPlain, rebuilt.job.id == told,
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
