#if DEBUG
import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

// Mode `check`: what was composed in passing is composed by the ordinary classes, too, and compared. Texts hold
// credentials and content, so a difference is told by its place alone.
extension Connection {
    func checkRequest(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ sent: UnsafeRawBufferPointer,
        _ sender: any PassThroughSender
    ) {
        let rebuilt = unsafe rebuiltForCheck(exchange)
        unsafe demandEqual(sent, sender.composed(rebuilt.outbound), "the request")
    }

    func checkAnswer(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ head: UnsafeRawBufferPointer,
        _ lent: UnsafeRawBufferPointer,
        _ sender: any PassThroughSender
    ) {
        let sent = unsafe Array(head) + Array(lent)
        let rebuilt = unsafe rebuiltForCheck(exchange)
        let bytes = unsafe Span(_unsafeStart: answer.base, count: answer.body.upperBound)
        guard let inbound = sender.inbound(bytes, to: rebuilt.outbound, answer) else {
            fatalError("pass-through took an answer of \(bytes.count) bytes that the parser refuses")
        }
        guard rebuilt.execution.ends(with: inbound) else {
            fatalError(
                "pass-through took an answer with status \(answer.status) that the machine does not end with"
            )
        }
        let told = rebuilt.execution.outcome.answer(rebuilt.admission, refusal: nil)
        let wanted = server.output.compose { output in
            AnswerWriter(server: server, keepsAlive: true)
                .append(told.head, framing(told, isHead: false), to: &output)
            if case .bytes(let body) = told.body { output.append(body) }
            guard !answer.isWhole else { return output.bytes }
            var content: [UInt8] = []
            var decoder = BodyDecoder(
                framing: answer.isChunked ? .chunked : .length(UInt64(answer.length))
            )
            _ = try? decoder.decode(bytes.extracting(answer.body), into: &content)
            let isChunk = answer.isChunked && !content.isEmpty
            if isChunk { HeadWriter.appendChunkHeader(content.count, to: &output) }
            output.append(content)
            if isChunk { HeadWriter.appendLineEnd(to: &output) }
            return output.bytes
        }
        unsafe sent.withUnsafeBytes { unsafe demandEqual($0, wanted, "the answer") }
    }

    private func rebuiltForCheck(_ exchange: UnsafeMutablePointer<PassThroughExchange>) -> PassThrough.Adopted
    {
        guard let (head, adopted) = unsafe rebuilt(exchange, nil, SendingNothing()) else {
            fatalError("pass-through took a request that the ordinary path refuses")
        }
        let target = try? RelayTarget.parse(head.target)
        let length: UInt64 = if case .bytes(let content) = adopted.body { UInt64(content.count) } else { 0 }
        let isFramed = head.framing == .length(length) || head.framing == .none && length == 0
        guard head.keepsAlive, isFramed, target?.hasEmptySegment == false, adopted.wish.isPlain,
            unsafe target.map({ Array($0.route.utf8) }) == exchange.pointee.entry.route.name
        else { fatalError("pass-through took a request that needs more than to be passed on") }
        return adopted
    }
}

/// Nothing is sent by it.
struct SendingNothing: RelayRoute.Sending {
    func cancel() {}
}

/// Ends the process at the first difference, and names the field it is in.
func demandEqual(_ sent: UnsafeRawBufferPointer, _ wanted: [UInt8], _ subject: StaticString) {
    if unsafe wanted.elementsEqual(sent) { return }
    let common = unsafe zip(wanted, sent).prefix { $0 == $1 }.count
    let lineStart = wanted[..<min(common, wanted.count)].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let name = wanted[lineStart...].prefix { $0 != UInt8(ascii: ":") && $0 > 0x20 && $0 < 0x7F }.prefix(64)
    fatalError(
        """
        pass-through and the ordinary path differ in \(subject) at byte \(common), in "\(String(decoding: name, as: UTF8.self))": \
        \(sent.count) and \(wanted.count) bytes
        """
    )
}
#endif
